/**
 * Backtests `next`. For every recorded step, `next` suggests moves at the previous rung, using only
 * data from other ladders. `next` bases its estimates on the recorded steps. The bound on each
 * step's gain comes from the current list of moves.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { sharedSessions, sharingSessions } from '../../src-main/adapters/disk/shared-sessions'
import { readSources } from '../../src-main/adapters/sessions/session-sources'
import { asRecording } from '../../src-main/services/sessions/recordings'
import { replay } from '../../src-main/services/sessions/replay-recording'
import { readYaml } from '../../src-main/parsers/kernels/yaml-places'
import { boundOf, fullness } from '../../src-main/domain/next/bound'
import { factsOf, type Facts } from '../../src-main/domain/next/facts'
import { candidatesOf } from '../../src-main/domain/next/next'
import type { Landed, Offered, Past } from '../../src-main/domain/next/landing'
import { moves } from '../../src-main/domain/next/registry'
import { rungBefore, type RungResult } from '../../src-main/domain/session/session'
import type { DeepProfile } from '../../src-main/domain/session/deep'
import { mdTable } from '../../src-main/domain/text/markdown'
import { formatRatio } from '../../src-main/domain/metrics/units'
import { stepsTable } from './steps-table'

export const landedPath = 'resources/recordings/landed.json'
/** Path of the document with the scores. */
export const backtestPath = 'docs/evidence/next.md'
export const backtestStepsPath = 'docs/evidence/tables/backtest.md'

interface Entry {
  id: string
  as?: string
  moves?: string[]
  negative?: boolean
}

/** Returns the entries of the shipped ladders, by ladder and rung. */
function declaredMoves(root: string): Map<string, Map<string, Entry>> {
  const ladders: { id: string; rungs: Entry[] }[] = []
  const kernels = join(root, 'cuda-kernels')
  const folders = readdirSync(kernels, { recursive: true, encoding: 'utf8' })
  for (const path of folders.filter((one) => /\/ladders\/[^/]+\.json$/.test(one)))
    ladders.push(JSON.parse(readFileSync(join(kernels, path), 'utf8')) as (typeof ladders)[number])
  for (const place of ['resources/examples', 'resources/templates'])
    for (const name of readdirSync(join(root, place))) {
      const text = readFileSync(join(root, place, name, 'ladder.yaml'), 'utf8')
      const ladder = readYaml(text).value as Partial<(typeof ladders)[number]>
      if (!ladder.rungs) continue
      // A ladder created from a template has the id NAME-lab, such as softmax-lab in the
      // recordings.
      const id = place.endsWith('templates') ? `${name}-lab` : ladder.id!
      ladders.push({ id, rungs: ladder.rungs })
    }
  return new Map(
    ladders.map(({ id, rungs }) => [id, new Map(rungs.map((one) => [one.as ?? one.id, one]))]),
  )
}

export interface RecordedStep {
  recording: string
  ladder: string
  level: string
  from: string
  to: string
  /** Moves of the step, as declared in the ladder. */
  made: readonly string[]
  /** Whether the step is intentionally slower. `next` must not suggest such a step. */
  negative: boolean
  gain: number
  /** Facts about the previous rung. Null if that rung has too few counters for advice. */
  facts: Facts | null
  /**
   * Optimizations that ncu's rules suggested for the previous rung, with estimates in percent. Null
   * without a deep profile.
   */
  rules: readonly { name: string; estimate: number | null }[] | null
}

const isAdvisable = (facts: Facts | null): facts is Facts => facts !== null && facts.waits !== null

export async function recordedSteps(root: string): Promise<RecordedStep[]> {
  const recordings = join(root, 'resources/recordings')
  const declared = declaredMoves(root)
  const names = (await sharingSessions(join(recordings, sharedSessions))).sort()
  const steps: RecordedStep[] = []
  for (const recording of names) {
    const folder = join(recordings, recording)
    const session = await readSession(folder)
    const entries = declared.get(session.ladder.id)
    if (!entries) continue
    const { texts } = await readSources(folder, session)
    const deep = await deepOf(recording, folder, session)
    for (const rung of session.rungs) {
      const before = rungBefore(session, rung.id)
      const entry = entries.get(rung.id)
      if (!before?.timing || !rung.timing || !entry?.moves || rung.id === session.ladder.reference)
        continue
      const profile = deep(before.id)
      steps.push({
        recording,
        ladder: session.ladder.id,
        level: session.settings.profile,
        from: before.id,
        to: rung.id,
        made: entry.moves,
        negative: entry.negative ?? false,
        gain: before.timing.medianMs / rung.timing.medianMs,
        facts: factsOf({ session, rung: before, deep: profile }, texts[before.id] ?? null),
        rules: profile && rulesOf(profile),
      })
    }
  }
  return steps
}

type Session = Awaited<ReturnType<typeof readSession>>

async function deepOf(
  name: string,
  folder: string,
  session: Session,
): Promise<(rung: RungResult['id']) => DeepProfile | null> {
  const recording = session.settings.profile === 'deep' ? asRecording(name, folder, session) : null
  if (!recording) return () => null
  const { deep } = await replay(
    recording,
    { params: {}, profile: 'deep' },
    () => undefined,
    new AbortController().signal,
  )
  return (rung) => deep.get(rung) ?? null
}

const rulesOf = ({ kernels }: DeepProfile): NonNullable<RecordedStep['rules']> =>
  kernels
    .flatMap(({ rules }) => rules)
    .filter(({ kind }) => kind === 'optimization')
    .map(({ name, estimatedSpeedup: estimate }) => ({ name, estimate }))
    .sort((a, b) => (b.estimate ?? -1) - (a.estimate ?? -1))

/** Rounds a factor to five significant digits. */
const rounded = (value: number): number => Number(value.toPrecision(5))

/**
 * Returns the steps on which `next` bases its estimates. Excludes steps that are intentionally
 * slower.
 */
export function pastOf(steps: readonly RecordedStep[]): Past {
  const landed: Landed[] = []
  const offered = new Map<string, Offered>()
  for (const { facts, negative, made, ladder, recording, from, to, gain } of steps) {
    if (negative || !isAdvisable(facts)) continue
    for (const move of moves) {
      const found = move.find(facts)
      if (!found) continue
      const isMade = made.includes(move.id)
      const key = `${move.id} ${ladder}`
      const so = offered.get(key) ?? { move: move.id, ladder, applied: 0, made: 0 }
      offered.set(key, { ...so, applied: so.applied + 1, made: so.made + Number(isMade) })
      if (isMade)
        landed.push({
          ...{ move: move.id, ladder, recording, from, to },
          isMain: made[0] === move.id,
          unit: fullness(facts)[0]?.unit ?? null,
          bound: rounded(boundOf(facts, found.change)),
          gain: rounded(gain),
        })
    }
  }
  return { landed, offered: [...offered.values()] }
}

export interface Backtested {
  step: RecordedStep
  /** The first three suggestions of `next`. */
  first: readonly string[]
  isFirst: boolean
  /**
   * Predicted range of the best suggestion that matches one of the step's moves. Null if none of
   * the first five suggestions matches.
   */
  range: { move: string; low: number; mid: number; high: number; holds: boolean } | null
}

/** If the ratio of two times is below this factor, the times count as equal. */
export const tolerance = 1.005
export const firstCount = 3
const shownCount = 5

export const backtest = (steps: readonly RecordedStep[], past: Past): Backtested[] =>
  steps.flatMap((step): Backtested[] => {
    if (!isAdvisable(step.facts)) return []
    const out = { ladder: step.ladder, to: step.to }
    const shown = candidatesOf(step.facts, out, past).slice(0, shownCount)
    const first = shown.slice(0, firstCount).map(({ move }) => move.id)
    const own = shown.find(({ move }) => step.made.includes(move.id))
    return [
      {
        step,
        first,
        isFirst: step.made.some((id) => first.includes(id)),
        range: own
          ? {
              move: own.move.id,
              ...own.speedup,
              holds:
                step.gain >= own.speedup.low / tolerance &&
                step.gain <= own.speedup.high * tolerance,
            }
          : null,
      },
    ]
  })

/** Minimum speedup of a step that is worth suggesting. */
export const worth = 1.02

export interface Score {
  steps: number
  /**
   * Share of steps for which one of the first three suggestions is right, from 0 to 1. Null if
   * there are no steps.
   */
  first: number | null
  inRange: number | null
  /** Median ratio of a predicted range's upper end to its lower end. */
  medianWidth: number | null
}

const median = (values: readonly number[]): number | null =>
  values.length === 0 ? null : [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

export function scoreOf(all: readonly Backtested[]): Score {
  const ranges = all.flatMap(({ range }) => (range ? [range] : []))
  const share = (count: number, of: number): number | null => (of === 0 ? null : count / of)
  return {
    steps: all.length,
    first: share(all.filter(({ isFirst }) => isFirst).length, all.length),
    inRange: share(ranges.filter(({ holds }) => holds).length, ranges.length),
    medianWidth: median(ranges.map(({ low, high }) => high / low)),
  }
}

export interface Groups {
  all: Backtested[]
  worthwhile: Backtested[]
  deep: Backtested[]
  standard: Backtested[]
  onPurpose: Backtested[]
}

export function groupsOf(tested: readonly Backtested[]): Groups {
  const all = tested.filter(({ step }) => !step.negative)
  return {
    all,
    worthwhile: all.filter(({ step }) => step.gain >= worth),
    deep: all.filter(({ step }) => step.rules !== null),
    standard: all.filter(({ step }) => step.rules === null),
    onPurpose: tested.filter(({ step }) => step.negative),
  }
}

/**
 * Moves that each of ncu's rules could refer to. If in doubt, a move is included. The table
 * contains only rules that occur in the recordings.
 */
const ruleMoves: Readonly<Record<string, readonly string[]>> = {
  UncoalescedGlobalAccess: ['coalesce'],
  MemoryCacheAccessPattern: ['coalesce', 'vectorize'],
  UncoalescedSharedAccess: ['pad'],
  SharedMemoryConflicts: ['pad'],
  MemoryL2Compression: [],
  TheoreticalOccupancy: ['occupancy-up', 'block-shape'],
  LaunchConfiguration: ['blocks', 'split-k', 'persistent'],
  WorkloadImbalance: ['blocks', 'split-k', 'persistent'],
  FPInstructions: [],
  HighPipeUtilization: ['coalesce', 'shared-tile', 'register-tile', 'tensor-cores'],
  IssueSlotUtilization: ['more-work', 'occupancy-up', 'prefetch'],
  CPIStall: ['prefetch', 'async-copy', 'barriers', 'more-work', 'shared-tile', 'specialize'],
  SOLBottleneck: [],
}

export interface RulesScore {
  steps: number
  /** Number of steps for which one of the first three rules refers to the right move. */
  first: number
  /**
   * Number of steps with an estimate. `atMost` counts steps whose gain does not exceed the
   * estimate. `atLeastHalf` counts steps whose gain is at least half the estimate.
   */
  estimated: number
  atMost: number
  atLeastHalf: number
}

export function rulesScore(tested: readonly Backtested[]): RulesScore {
  const own = tested.flatMap(({ step }) => (step.rules ? [{ ...step, rules: step.rules }] : []))
  const isHit = ({ name }: { name: string }, made: readonly string[]): boolean =>
    (ruleMoves[name] ?? []).some((move) => made.includes(move))
  const hits = own.flatMap(({ rules, made, gain }) => {
    const rule = rules.slice(0, firstCount).find((one) => isHit(one, made))
    return rule ? [{ rule, gain }] : []
  })
  const estimated = hits.filter(({ rule }) => rule.estimate !== null)
  return {
    steps: own.length,
    first: hits.length,
    estimated: estimated.length,
    atMost: estimated.filter(({ rule, gain }) => gain <= estimateOf(rule) * tolerance).length,
    atLeastHalf: estimated.filter(({ rule, gain }) => gain - 1 >= (estimateOf(rule) - 1) / 2)
      .length,
  }
}

/**
 * Converts ncu's estimate to a speedup factor. The estimate is the share of the time saved, in
 * percent.
 */
const estimateOf = ({ estimate }: { estimate: number | null }): number =>
  1 / (1 - Math.min(99, estimate!) / 100)

export const shareText = (share: number | null): string =>
  share === null ? '–' : `${(100 * share).toFixed(0)} %`

const factor = (value: number | null): string => (value === null ? '–' : formatRatio(value))

/** Returns each document's generated part, which contains the scores and a row per step. */
export function backtestParts(
  steps: readonly RecordedStep[],
  past: Past,
): (readonly [path: string, part: string])[] {
  const tested = backtest(steps, past)
  const groups = groupsOf(tested)
  const left = steps.length - tested.length
  const rules = rulesScore(groups.deep)
  const rows: [string, readonly Backtested[]][] = [
    ['all steps', groups.all],
    ['steps that gained 2 % or more', groups.worthwhile],
    ['previous rung has a deep profile', groups.deep],
    ['previous rung has standard counters', groups.standard],
  ]
  const scores = mdTable(
    [
      { header: '', align: 'left' },
      { header: 'steps', align: 'right' },
      { header: 'move among the first three', align: 'right' },
      { header: 'gain within the range', align: 'right' },
      { header: 'median width', align: 'right' },
    ],
    rows.map(([name, own]) => {
      const score = scoreOf(own)
      return [
        name,
        String(score.steps),
        shareText(score.first),
        shareText(score.inRange),
        factor(score.medianWidth),
      ]
    }),
  )
  const table = stepsTable(
    'recording',
    tested.map(({ step, first, isFirst, range }) => ({
      ...{ of: `\`${step.recording}\``, from: step.from, to: step.to },
      ...(step.negative ? { note: ' (intentionally slower)' } : {}),
      ...{ made: step.made, gain: step.gain, first, isFirst, range },
    })),
  )
  const summary = [
    scores,
    `${left} of ${steps.length} recorded steps are excluded because the previous rung has too few counters. Another ${groups.onPurpose.length} steps are intentionally slower and not included in any row. Their move was among the first three in ${groups.onPurpose.filter(({ isFirst }) => isFirst).length} of them.`,
    `${rules.steps} steps have a deep profile with results of ncu's rules. One of the first three rules points to the move in ${rules.first} of them. ${rules.estimated} of these rules have an estimate. The gain was at most the estimate in ${rules.atMost} steps, and at least half of the estimate in ${rules.atLeastHalf}.`,
  ].join('\n\n')
  return [
    [backtestPath, summary],
    [backtestStepsPath, table],
  ]
}
