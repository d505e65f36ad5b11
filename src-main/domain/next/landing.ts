/**
 * Where between nothing and its bound a move lands, by the steps of shipped ladders that made it. Each past step says
 * which share of the bound's logarithm it reached. Steps of the same move and of similar bounds weigh most; quantiles of
 * these shares are the range. Steps of the ladder that advice is given for are left out, here and in the backtest.
 */
import { z } from 'zod'

/** A recorded step for one of the moves that it made, as advice at the rung before it would have bounded it. */
export const Landed = z.object({
  move: z.string(),
  ladder: z.string(),
  recording: z.string(),
  from: z.string(),
  to: z.string(),
  /** Whether it is the main change of the step, which the ladder names first. */
  isMain: z.boolean(),
  /** The unit nearest its limit at the rung before; null if no unit was counted. */
  unit: z.string().nullable(),
  /** Factors of the speed. */
  bound: z.number().positive(),
  gain: z.number().positive(),
})
export type Landed = z.infer<typeof Landed>

/** How often a move applied at the rung before a step of a ladder, and how often the step then made it. */
export const Offered = z.object({
  move: z.string(),
  ladder: z.string(),
  applied: z.number().int(),
  made: z.number().int(),
})
export type Offered = z.infer<typeof Offered>

/** landed.json beside the recordings, which `npm run next` writes. */
export const Past = z.object({ landed: z.array(Landed), offered: z.array(Offered) })
export type Past = z.infer<typeof Past>

/** What is left out of a fit: the ladder at hand, and the same step in ladders that share its rungs. */
export interface LeftOut {
  ladder: string
  /** The rung that the step at hand leads to; null outside a backtest. */
  to: string | null
}

export interface Range {
  low: number
  mid: number
  high: number
}

/** The quantiles of the range. */
const quantiles = [0.07, 0.5, 0.93] as const
/** Added to the logarithm of a bound: what varies from run to run also where a bound allows nothing. */
const blur = 0.03
/** Weight of a step of another move. */
const otherMove = 0.2
/** By how much the logarithm of a bound has to differ, relative to the other, to weigh 1/e. */
const likeness = 0.6
/** Shares beyond these are of steps that other changes made faster or slower. */
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

/** The range of the speedup; null where no past step says anything. */
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

/** How readily a ladder makes the move where it applies, 0 to 1; ranks moves of equal gain. */
export function readinessOf(move: string, out: LeftOut, { offered }: Past): number {
  const own = offered.filter((one) => one.move === move && one.ladder !== out.ladder)
  const applied = own.reduce((sum, one) => sum + one.applied, 0)
  const made = own.reduce((sum, one) => sum + one.made, 0)
  // A move that hardly ever applied is neither trusted nor dismissed.
  return (made + 1) / (applied + 6)
}

/**
 * The past step of this move that gained something and is most like this one: the same unit nearest its limit, then a
 * similar bound. Steps of other ladders, and steps whose main change it is, come first.
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
