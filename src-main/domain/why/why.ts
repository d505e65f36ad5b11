/**
 * Explains why rung b is faster or slower than rung a. The result contains the causes ranked by
 * their share of the step, and the counters that changed without affecting the time. The result
 * also contains the unexplained rest and the profile level that would explain more of the step. If
 * there is no explanation, the result contains the reason. ./parts computes the numbers, and ./say
 * writes the sentences.
 */
import { z } from 'zod'
import type { Hunk } from '../analysis/chain'
import { comparability, haveOtherGpus } from '../analysis/comparability'
import { mostMoved, movedWords } from '../analysis/most-moved'
import { dynamicMetricNoise, timesAreSame, Verdict } from '../analysis/compare'
import { predictedRatio } from '../metrics/predicted-range'
import { message, says, together, Statement } from '../messages/message'
import { profileLevels, ProfileLevel } from '../metrics/metric-definition'
import { namedBy, sayPart } from './say'
import { partIds, splitOf, type Split } from './parts'
import { unitIds } from './units'
import { code } from '../messages/sentence'
import { Unimportant, unimportantMoves } from './unimportant-moves'
import { CauseLines, linesThatBear } from './cause-lines'
import { stallObstacle } from '../session/deep'
import { activeCycles, areKernelsOfOneProgram, timesOf, type Side } from './side'

export type { Side } from './side'

export const Cause = z.object({
  id: z.enum(partIds),
  statement: Statement,
  /**
   * The cause's share of the step, 0 to 1, as a fraction of the logarithm of the time ratio. The
   * shares of all causes and the unexplained rest add up to 1. Null if any cause worked against the
   * step. Causes then have factors but no shares.
   */
  share: z.number().min(0).max(1).nullable(),
  /**
   * Speedup factor. If the factor is above 1, the cause makes b faster. The product of all factors
   * and `unexplainedFactor` is a's time divided by b's time.
   */
  factor: z.number(),
  /**
   * The cause's share of the time that the step saved or added, 0 to 1. These shares and the
   * unexplained rest add up to 1. A cause that worked against the step has a value from −1 to 0.
   */
  contribution: z.number(),
  /** Metrics by registry id, with the values of both rungs. */
  metrics: z.array(
    z.object({ id: z.string(), a: z.number().nullable(), b: z.number().nullable() }),
  ),
  /** The cause's source lines; absent below the deep profile level. */
  lines: CauseLines.optional(),
})
export type Cause = z.infer<typeof Cause>

export const Why = z.object({
  verdict: Verdict,
  /**
   * The unit closest to its limit in each rung. Null if no unit is close to its limit, or if the
   * unit is unknown.
   */
  limits: z.object({ a: z.enum(unitIds).nullable(), b: z.enum(unitIds).nullable() }),
  /** Causes of the step, largest first, followed by causes that worked against the step. */
  causes: z.array(Cause),
  /** Counters that got worse (or better in a slower step) without affecting the time. */
  unimportant: z.array(Unimportant),
  /**
   * Share of the step that no cause explains. Null if there is no step, or if the causes have no
   * shares.
   */
  unexplained: z.number().min(0).max(1).nullable(),
  /** The unexplained rest as a share of the saved time, like a cause's `contribution`. */
  unexplainedContribution: z.number().nullable(),
  /** The unexplained rest as a speedup factor. */
  unexplainedFactor: z.number().nullable(),
  /** The profile level that would explain more of the step; null if no higher level would help. */
  needs: z.object({ level: ProfileLevel, statement: Statement }).nullable(),
  /** Reason why there are no causes; absent if there are causes. */
  reason: Statement.optional(),
  /** Difference in nvcc flags; absent if the flags are equal. */
  flags: Statement.optional(),
  /**
   * States that both times and the counters behind the causes are predicted. Absent for measured
   * data.
   */
  predicted: Statement.optional(),
})
export type Why = z.infer<typeof Why>

/**
 * Minimum share of the step at which a part is reported. Parts with a smaller share are added to
 * the unexplained rest.
 */
const leastShare = 0.05

const rounding = 1e-9

/** Relative variation of rates between launches. Smaller changes of a rate are ignored. */
const resolution = 0.002

/**
 * Returns why b is faster or slower than a.
 *
 * @param hunks differences between the two sources, used to mark changed lines; null if the sources
 * are unknown
 */
export function whyOf(a: Side, b: Side, hunks: readonly Hunk[] | null = null): Why {
  const flags = otherFlags(a.rung.buildWords, b.rung.buildWords)
  const predicted = predictedNote(a, b)
  return {
    ...explain(a, b, hunks),
    ...(flags ? { flags } : {}),
    ...(predicted ? { predicted } : {}),
  }
}

/** Returns a note that states whether the model can distinguish two predicted rungs. */
function predictedNote({ rung: a }: Side, { rung: b }: Side): Statement | null {
  if (!a.predicted || !b.predicted) return null
  const { low, high } = predictedRatio(a.predicted, b.predicted)
  return message(low > 1 || high < 1 ? 'why.predicted' : 'why.predictedOpen')
}

/** Returns a statement about nvcc flags that only one of the two rungs was built with. */
function otherFlags(a: readonly string[] = [], b: readonly string[] = []): Statement | null {
  const only = (own: readonly string[], other: readonly string[]): string | Statement => {
    const words = own.filter((word) => !other.includes(word))
    return words.length === 0 ? message('settings.none') : words.join(' ')
  }
  const [before, now] = [only(a, b), only(b, a)]
  return a.join(' ') === b.join(' ') ? null : message('settings.differ', { a: before, b: now })
}

function explain(a: Side, b: Side, hunks: readonly Hunk[] | null): Why {
  const [stateA, stateB] = [a.rung.timing?.cacheState, b.rung.timing?.cacheState]
  const none = (reason: Statement, verdict: Verdict = 'unknown'): Why => ({
    verdict,
    limits: { a: null, b: null },
    causes: [],
    unimportant: [],
    unexplained: null,
    unexplainedContribution: null,
    unexplainedFactor: null,
    needs: null,
    reason,
  })
  if (stateA && stateB && stateA !== stateB)
    return none(
      message('why.otherCacheState', {
        a: message(`cacheState.${stateA}`),
        b: message(`cacheState.${stateB}`),
      }),
    )
  const [left, right] = [a.session.device, b.session.device]
  if (left && right && haveOtherGpus(a.session, b.session))
    return none(
      together(message('guard.gpu', { a: left.name, b: right.name }), message('guard.otherGpu')),
    )
  if (Boolean(a.rung.predicted) !== Boolean(b.rung.predicted) && (a.rung.timing || b.rung.timing))
    return none(message('why.predictedAndMeasured'))
  const times = timesOf(a, b)
  if (!times) return none(untimedObstacle(a, b) ?? withoutTime(a, b))
  const ratio = times.a / times.b
  const same = timesAreSame(times.a, times.b, times.noise)
  const isOpen = says(predictedNote(a, b), 'why.predictedOpen')
  const verdict = isOpen ? 'unknown' : same ? 'same' : ratio > 1 ? 'better' : 'worse'
  const obstacle = obstacleOf(a, b)
  if (obstacle) return none(obstacle, verdict)
  const split = splitOf(a, b, times)
  const limits = {
    a: split?.limits.a?.unit.id ?? null,
    b: split?.limits.b?.unit.id ?? null,
  }
  const needs = needsOf(a, b)
  if (same)
    return {
      ...none(message('why.same'), verdict),
      limits,
      unimportant: unimportantMoves(a, b, 'same', split, new Set()),
    }
  if (!split)
    return {
      ...none(message(needs?.level === 'standard' ? 'why.notCounted' : 'why.notCommon'), verdict),
      limits,
      unexplained: 1,
      unexplainedContribution: 1,
      unexplainedFactor: ratio,
      needs,
    }
  const causes = causesOf(split, a, b, hunks)
  const doubt = doubtOf(split, a, b) ?? (causes.length > 0 ? null : message('why.small'))
  const isExplained = doubt === null
  const named = new Set(causes.flatMap(({ cause }) => namedBy(cause.metrics)))
  const parts = isExplained ? causes : []
  const unexplained = remainderOf(parts.map(({ part }) => part))
  const all = [unexplained, ...parts.map(({ part }) => part)]
  const alongStep = all.filter((part) => part > 0).reduce((sum, part) => sum + part, 0)
  const areShares = all.every((part) => part >= 0)
  return {
    verdict,
    limits,
    causes: parts.map(({ part, cause }) => ({
      ...cause,
      share: areShares ? Math.min(part, 1) : null,
      contribution: part / alongStep,
    })),
    unimportant: unimportantMoves(a, b, ratio > 1 ? 'faster' : 'slower', split, named),
    unexplained: areShares ? unexplained : null,
    unexplainedContribution: unexplained / alongStep,
    unexplainedFactor: ratio / parts.reduce((product, { cause }) => product * cause.factor, 1),
    needs,
    ...(isExplained ? {} : { reason: doubt }),
  }
}

/**
 * Returns the unexplained fraction of the step, where the whole step is 1. Removes rounding errors.
 */
function remainderOf(parts: readonly number[]): number {
  const rest = 1 - parts.reduce((sum, part) => sum + part, 0)
  return Math.abs(rest) < rounding ? 0 : rest
}

interface Told {
  /**
   * Logarithm of the cause's factor divided by the logarithm of the step's factor. A cause that
   * worked against the step has a negative value.
   */
  part: number
  cause: Omit<Cause, 'share' | 'contribution'>
}

const causesOf = (split: Split, a: Side, b: Side, hunks: readonly Hunk[] | null): Told[] => {
  const noStalls = stallObstacle(a.deep, b.deep) !== null
  return split.parts
    .map(({ id, log, own }) => ({ id, log, own, part: log / split.total }))
    .filter(({ log, part }) => Math.abs(part) >= leastShare && Math.abs(log) >= resolution)
    .sort((one, other) => other.part - one.part)
    .map(({ part, ...factor }) => {
      const { statement, metrics, burden, isWait } = sayPart(factor, split, a, b)
      // Lines cannot be paired if the two profiles have different kinds of samples.
      const lines = noStalls && isWait ? undefined : linesThatBear(a, b, burden, hunks)
      const cause = { id: factor.id, statement, factor: Math.exp(factor.log), metrics }
      return { part, cause: lines ? { ...cause, lines } : cause }
    })
}

/**
 * Returns why the parts cannot be trusted, or null if they can be trusted. Without cycle counts, a
 * part can be very inaccurate. The parts then do not add up to the step, or all of them work
 * against the step. With cycle counts, the parts always add up, but the cycles are from a profiled
 * launch. The profiled launch may differ from the timed launch by more than a small step.
 */
function doubtOf({ parts, total }: Split, a: Side, b: Side): Statement | null {
  if (activeCycles(a) !== null && activeCycles(b) !== null) {
    const active = parts.find(({ id }) => id === 'active')?.log ?? 0
    const small = Math.abs(total) < dynamicMetricNoise && Math.abs(active) > Math.abs(total)
    return small ? message('why.small') : null
  }
  const rest = total - parts.reduce((sum, { log }) => sum + log, 0)
  const closes = Math.abs(rest) < Math.abs(total) && parts.some(({ log }) => log * total > 0)
  return closes ? null : message('why.open')
}

function withoutTime(a: Side, b: Side): Statement {
  const isUntimed = timeless(a) && timeless(b)
  const moves = isUntimed ? mostMoved(a, b, 5) : null
  if (moves)
    return moves.length === 0
      ? message('why.onlyCountedSame')
      : message('why.onlyCounted', { moves: movedWords(moves) })
  const { rung } = (a.rung.timing ?? a.rung.predicted) ? b : a
  if (rung.notPredicted) return rung.notPredicted
  return rung.reason
    ? message('why.noTime', { rung: code(rung.id), why: rung.reason })
    : message('why.noTimeUnknown', { rung: code(rung.id) })
}

/**
 * Returns why counters of untimed rungs cannot be compared, or null if they can be compared.
 * Different problems or programs are not comparable.
 */
function untimedObstacle(a: Side, b: Side): Statement | null {
  const isOther = a.session !== b.session && comparability(a.session, b.session).refusals.length > 0
  return isOther ? message('why.otherTask') : null
}

const timeless = ({ rung }: Side): boolean => !rung.timing && !rung.profiledTime

function obstacleOf(a: Side, b: Side): Statement | null {
  if (a.session !== b.session && comparability(a.session, b.session).refusals.length > 0)
    return message('why.otherTask')
  if (areKernelsOfOneProgram(a, b)) return message('why.otherKernel')
  const bare = [a, b].find(
    ({ rung }) => !Object.values(rung.metrics).some(({ value }) => value !== null),
  )
  return bare ? message('why.notProfiled', { rung: code(bare.rung.id) }) : null
}

function needsOf(a: Side, b: Side): Why['needs'] {
  const level = Math.min(
    ...[a, b].map(({ session }) => profileLevels.indexOf(session.settings.profile)),
  )
  if (level < profileLevels.indexOf('standard'))
    return { level: 'standard', statement: message('why.needsStandard') }
  const otherSamples = stallObstacle(a.deep, b.deep)
  if (otherSamples) return { level: 'deep', statement: otherSamples }
  return a.deep && b.deep ? null : { level: 'deep', statement: message('why.needsDeep') }
}
