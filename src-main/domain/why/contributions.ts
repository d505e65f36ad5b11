/** The factors of a step: each cause, and what no cause covers. Their product is the ratio of the two times. */
import { withDecimals, formatRatio } from '../metrics/units'
import { Cause, Why } from './why'

export interface Contribution {
  /** null for what is not explained. */
  cause: Cause | null
  /** By how much it multiplies the speed: above 1 it makes b faster. */
  factor: number
}

/** A factor near 1 needs a digit more. */
const fine = 1.1

/** `1.12×`, `0.981×`: how a factor of a step is printed. */
export const formatFactor = (factor: number): string =>
  factor > 1 / fine && factor < fine ? `${withDecimals(factor, 3)}×` : formatRatio(factor)

const isOne = (factor: number): boolean => formatFactor(factor) === '1.000×'

/** What made the step first, largest first; what is not explained last, unless it is printed as 1. */
export function contributionsOf({ causes, unexplainedFactor }: Why): Contribution[] {
  if (causes.length === 0) return []
  const rest = unexplainedFactor ?? 1
  return [
    ...causes.map((cause) => ({ cause, factor: cause.factor })),
    ...(isOne(rest) ? [] : [{ cause: null, factor: rest }]),
  ]
}

/** How much faster b is than a, as the product of its factors. */
export const productOf = (contributions: readonly Contribution[]): number =>
  contributions.reduce((product, { factor }) => product * factor, 1)
