/**
 * Estimates the speedup of a move, between no gain and its bound. The estimate is based on past
 * steps in built-in ladders and the moves that they made. For each past step, the share is the
 * logarithm of its gain divided by the logarithm of its bound. Steps with the same move and a
 * similar bound have the highest weight. The range consists of quantiles of the past steps' shares.
 * Steps of the current ladder are excluded, in the backtest too.
 */
import { z } from 'zod'

/**
 * A recorded step and one move that it made. `bound` is the bound that the program computes for
 * this move at the previous rung.
 */
export const Landed = z.object({
  move: z.string(),
  ladder: z.string(),
  recording: z.string(),
  from: z.string(),
  to: z.string(),
  /** Whether the move is the step's main change. */
  isMain: z.boolean(),
  /** The unit closest to its limit at the previous rung; null if no unit was counted. */
  unit: z.string().nullable(),
  /** Bound on the speedup, and measured speedup. */
  bound: z.number().positive(),
  gain: z.number().positive(),
})
export type Landed = z.infer<typeof Landed>

/**
 * How often a move was recommended before a ladder step, and how often the step then made this
 * move.
 */
export const Offered = z.object({
  move: z.string(),
  ladder: z.string(),
  applied: z.number().int(),
  made: z.number().int(),
})
export type Offered = z.infer<typeof Offered>

/** Content of landed.json in the recordings folder. `npm run next` writes the file. */
export const Past = z.object({ landed: z.array(Landed), offered: z.array(Offered) })
export type Past = z.infer<typeof Past>

/**
 * Steps to exclude from a fit: all steps of the current ladder, and the same step in ladders with
 * the same rungs.
 */
export interface LeftOut {
  ladder: string
  /** The rung after the current step; null outside a backtest. */
  to: string | null
}

export interface Range {
  low: number
  mid: number
  high: number
}

/** Quantiles for the low, middle and high end of the range. */
const quantiles = [0.07, 0.5, 0.93] as const
/**
 * Value added to the logarithm of a bound to allow for run-to-run variation, which occurs even if
 * the bound is 1.
 */
const blur = 0.03
/** Weight of past steps that made a different move. */
const otherMove = 0.2
/** Relative difference between the logarithms of two bounds at which the weight drops to 1/e. */
const likeness = 0.6
/**
 * Limits for shares. Shares outside these limits come from steps in which other changes affected
 * the time.
 */
const [leastShare, mostShare] = [-0.3, 1] as const

const scaleOf = (bound: number): number => Math.log(bound) + blur

interface Weighted {
  share: number
  weight: number
}

function quantile(sorted: readonly Weighted[], at: number): number {
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0)
  let sum = 0
  for (const { share, weight } of sorted) {
    sum += weight
    if (sum >= at * total) return share
  }
  return sorted.at(-1)!.share
}

const isLeftOut = ({ ladder, to }: Landed, out: LeftOut): boolean =>
  ladder === out.ladder || (out.to !== null && to === out.to)

/** Returns the range of the speedup, or null if no past step is relevant. */
export function landingOf(
  move: string,
  bound: number,
  out: LeftOut,
  { landed }: Past,
): Range | null {
  const scale = scaleOf(bound)
  const shares = landed
    .filter((step) => !isLeftOut(step, out))
    .map((step): Weighted => {
      const own = scaleOf(step.bound)
      const apart = Math.abs(Math.log(own / scale))
      const share = Math.log(step.gain) / own
      return {
        share: Math.min(mostShare, Math.max(leastShare, share)),
        weight: (step.move === move ? 1 : otherMove) * Math.exp(-apart / likeness),
      }
    })
    .sort((a, b) => a.share - b.share)
  if (shares.length === 0) return null
  const [low, mid, high] = quantiles.map((at) => Math.exp(quantile(shares, at) * scale))
  return { low: low!, mid: mid!, high: high! }
}

/**
 * Returns how often a ladder step makes the move when the move applies, as a fraction from 0 to 1.
 * The frequency ranks moves with equal gains.
 */
export function readinessOf(move: string, out: LeftOut, { offered }: Past): number {
  const own = offered.filter((one) => one.move === move && one.ladder !== out.ladder)
  const applied = own.reduce((sum, one) => sum + one.applied, 0)
  const made = own.reduce((sum, one) => sum + one.made, 0)
  // Smooth the fraction to avoid extreme values for moves that rarely applied.
  return (made + 1) / (applied + 6)
}

/**
 * Returns the most similar past step that became faster with this move. Prefers steps of other
 * ladders and steps whose main change is this move. Next, prefers steps with the same unit closest
 * to its limit, and then steps with a similar bound.
 */
export function exampleOf(
  move: string,
  { bound, unit }: Pick<Landed, 'bound' | 'unit'>,
  out: LeftOut,
  { landed }: Past,
): Landed | null {
  const paid = landed.filter((step) => step.move === move && step.gain >= worthShowing)
  const apart = (step: Landed): number =>
    Number(isLeftOut(step, out)) * 8 +
    Number(!step.isMain) * 4 +
    Number(step.unit !== unit) * 2 +
    Math.min(1, Math.abs(Math.log(scaleOf(step.bound) / scaleOf(bound))))
  return [...paid].sort((a, b) => apart(a) - apart(b))[0] ?? null
}

const worthShowing = 1.02
