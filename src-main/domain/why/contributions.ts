/** Causes that explain a step, and those that worked against it. */
import { Cause, Why } from './why'

/** A cause, or what no cause covers, with its share as it is shown: always from 0 to 1. */
export interface Contribution {
  /** null for what is unexplained. */
  cause: Cause | null
  share: number
}

/** Half a percent, which is printed as none. */
const leastShown = 0.005

/** `along`: what saved time in a faster step, or added time in a slower one. `against`: the opposite, relative to the same. */
export function contributionsOf({ causes, unexplainedContribution }: Why): {
  along: Contribution[]
  against: Contribution[]
} {
  const rest = causes.length > 0 ? (unexplainedContribution ?? 0) : 0
  const all: Contribution[] = [
    ...causes.map((cause) => ({ cause, share: cause.contribution })),
    ...(Math.abs(rest) >= leastShown ? [{ cause: null, share: rest }] : []),
  ]
  return {
    along: all.filter(({ share }) => share > 0),
    against: all
      .filter(({ share }) => share <= 0)
      .map(({ cause, share }) => ({ cause, share: -share })),
  }
}
