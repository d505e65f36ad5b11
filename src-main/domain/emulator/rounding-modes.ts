/** Determines the rounding mode of a floating-point instruction from its modifiers. */
import type { Rounding } from './float'
import type { Site } from './site'

const roundings = ['RZ', 'RM', 'RP'] as const

export const roundingOf = (at: Site): Rounding => roundings.find((mode) => at.has(mode)) ?? 'RN'

export const isZeroOrLess = (value: number): boolean => value < 0 || Object.is(value, -0)
