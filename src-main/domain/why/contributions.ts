/**
 * Splits the speedup of a step into one factor per cause and one for the unexplained rest. The
 * product of all factors is the ratio of the two times.
 */
import { withDecimals, formatRatio } from '../metrics/units'
import { Cause, Why } from './why'

export interface Contribution {
  /** The cause; null for the unexplained rest. */
  cause: Cause | null
  /** Speedup factor. If a factor is above 1, its cause makes b faster. */
  factor: number
}

/** Factors closer to 1 than this limit are printed with an additional digit. */
const fine = 1.1

/** Formats a factor, such as `1.12×` or `0.981×`. */
export const formatFactor = (factor: number): string =>
  factor > 1 / fine && factor < fine ? `${withDecimals(factor, 3)}×` : formatRatio(factor)

const isOne = (factor: number): boolean => formatFactor(factor) === '1.000×'

/**
 * Returns the step's causes, largest first. The unexplained rest is last, and is omitted if it
 * prints as 1.
 */
export function contributionsOf({ causes, unexplainedFactor }: Why): Contribution[] {
  if (causes.length === 0) return []
  const rest = unexplainedFactor ?? 1
  return [
    ...causes.map((cause) => ({ cause, factor: cause.factor })),
    ...(isOne(rest) ? [] : [{ cause: null, factor: rest }]),
  ]
}

/** Returns b's speedup over a, which is the product of all factors. */
export const productOf = (contributions: readonly Contribution[]): number =>
  contributions.reduce((product, { factor }) => product * factor, 1)
