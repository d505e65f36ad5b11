/**
 * Determines whether figures from two sessions can be compared, and returns warnings for readers of
 * the comparison.
 */
import { message, type AnyMessage, Statement } from '../messages/message'
import { inEnglish } from '../text/english'
import { named, problemLabel } from '../task/problem'
import { flagTitle, resultOf, type Task } from '../task/task'
import { can, gpuOfTarget, isPredicted } from '../targets/targets'
import type { RungResult, Session } from '../session/session'
import { measureColdCommand } from '../session/commands'
import { code } from '../messages/sentence'

export interface Comparability {
  /**
   * Reasons why a comparison would be meaningless. The list is empty if the sessions can be
   * compared.
   */
  refusals: AnyMessage[]
  /**
   * Differences between the sessions, apart from their code. Each entry may explain a difference in
   * the figures.
   */
  warnings: AnyMessage[]
}

/**
 * Relative difference above which clocks noticeably affect times. Clocks vary by a few MHz between
 * samples.
 */
const clockTolerance = 0.02

export const clocksDiffer = (a: number, b: number): boolean =>
  Math.abs(a - b) > clockTolerance * Math.max(a, b)

const unknown = message('guard.unknown')

const word = (value: string | number | boolean | null | undefined): Statement =>
  value == null || value === '' ? unknown : String(value)

/** Returns the median SM clock over all timings, or null if the driver reported none. */
function medianClock(session: Session): number | null {
  const clocks = session.rungs
    .flatMap(({ timing }) => [timing?.smClockBeforeMHz, timing?.smClockAfterMHz])
    .filter((clock) => clock != null)
    .sort((a, b) => a - b)
  return clocks[Math.floor(clocks.length / 2)] ?? null
}

function clockWarning(left: Session, right: Session): AnyMessage[] {
  const [a, b] = [medianClock(left), medianClock(right)]
  if (a === null || b === null) return a === b ? [] : [message('guard.clockUnknown')]
  return clocksDiffer(a, b) ? [message('guard.clock', { a, b })] : []
}

type Measured = Pick<Session, 'settings' | 'device'>

/** Returns whether the two sessions ran on, or were predicted for, different GPUs. */
export const haveOtherGpus = (a: OnGpu, b: OnGpu): boolean => {
  if (a.device && b.device) return a.device.name !== b.device.name
  const [left, right] = [predictedFor(a), predictedFor(b)]
  if (left && right) return left !== right
  const [gpu, device] = [left ?? right, a.device ?? b.device]
  return gpu !== null && device !== null && !device.name.endsWith(gpu)
}

type OnGpu = Pick<Session, 'device'> & Partial<Pick<Session, 'target'>>

/** Returns the name of the GPU for predicted times, or null for other targets. */
const predictedFor = ({ target }: OnGpu): string | null =>
  target && isPredicted(target) ? (gpuOfTarget(target)?.name ?? null) : null

/**
 * Returns whether the times of two sessions can be ranked. Both sessions must use the same GPU and,
 * if known, the same L2 setting (cold or warm).
 */
export const areTimesRanked = (a: Measured, b: Measured): boolean => {
  const [left, right] = [a.settings.cacheState, b.settings.cacheState]
  return !haveOtherGpus(a, b) && (left === undefined || right === undefined || left === right)
}

/**
 * Returns a warning if the two sessions had different L2 states, because their times are then not
 * ranked. The suggested command remeasures with a cold L2.
 */
function cacheStateWarning(a: Session, b: Session): AnyMessage[] {
  const [left, right] = [a, b].map(({ settings }) => settings.cacheState)
  if (left === undefined || right === undefined || left === right) return []
  const states = { a: message(`cacheState.${left}`), b: message(`cacheState.${right}`) }
  const again = [a, b].filter(({ settings }) => settings.cacheState !== 'cold')
  const command = [...new Set(again.map(measureColdCommand))].join(' && ')
  return [message('guard.cacheState', { ...states, command: code(command) })]
}

function problemWords({ problem }: Session): Statement {
  if (!problem) return unknown
  const label = problemLabel(problem)
  const scalars = named(problem.scalars)
  return scalars === '' ? label : message('guard.problemWords', { problem: label, scalars })
}

type Computing = Pick<RungResult, 'flags'>

/** Returns the result that a rung computes, as a sentence fragment. */
function computed(task: Task | null, { flags }: Computing): AnyMessage {
  const what = resultOf(task)
  const titles = flags.map((flag) => flagTitle(task, flag))
  const last = titles.pop()
  if (last === undefined) return message('guard.alone', { what })
  const before = titles.reduce<Statement>(
    (all, other) => message('guard.more', { what: all, other }),
    what,
  )
  return message('guard.last', { what: before, other: last })
}

const computeTheSame = (a: Computing, b: Computing): boolean => a.flags.join() === b.flags.join()

/**
 * Returns warnings for a comparison of two rungs of the same task. The list is empty if both rungs
 * compute the same result.
 */
export const rungWarnings = (task: Task | null, a: RungResult, b: RungResult): AnyMessage[] =>
  computeTheSame(a, b)
    ? []
    : [
        message('guard.computes', {
          ...{ a: a.id, whatA: computed(task, a) },
          ...{ b: b.id, whatB: computed(task, b) },
        }),
      ]

/** Returns a warning about the ratio of a rung that does more work than the reference. */
export function ratioWarning({ ladder }: Session, rung: RungResult): AnyMessage | null {
  const { reference, task } = ladder
  if (rung.flags.length === 0 || reference === null) return null
  return message('guard.againstAlone', {
    rung: rung.id,
    what: computed(task, rung),
    reference,
    other: computed(task, { flags: [] }),
  })
}

export const ratioWarnings = (session: Session): AnyMessage[] =>
  session.rungs.flatMap((rung) => ratioWarning(session, rung) ?? [])

/**
 * Returns one statement if two rungs with the same name compute different results, and an empty
 * list if they compute the same results.
 */
export const otherwiseComputed = (task: Task | null, a: RungResult, b: RungResult): AnyMessage[] =>
  computeTheSame(a, b)
    ? []
    : [
        message('guard.computesOther', {
          rung: a.id,
          a: computed(task, a),
          b: computed(task, b),
        }),
      ]

/** Returns each option in which the sessions differ, by title. */
function optionsDiffer(a: Session, b: Session): AnyMessage[] {
  const options = { ...a.problem?.options, ...b.problem?.options }
  return Object.keys(options).flatMap((option) => {
    const [left, right] = [a, b].map(({ problem }) => problem?.options[option])
    const title = (a.ladder.task ?? b.ladder.task)?.options[option]?.title ?? option
    return left === right
      ? []
      : [message('guard.option', { option: title, a: word(left), b: word(right) })]
  })
}

type Compared =
  | 'ladder'
  | 'task'
  | 'problem'
  | 'gpu'
  | 'computeCapability'
  | 'smCount'
  | 'driver'
  | 'cudaDriver'
  | 'nvcc'
  | 'nvccFlags'
  | 'ncu'
  | 'clockControl'
  | 'cacheControl'
  | 'seed'

export function comparability(a: Session, b: Session): Comparability {
  const differs = (what: Compared, of: (session: Session) => Statement): AnyMessage[] => {
    const [left, right] = [of(a), of(b)]
    return inEnglish(left) === inEnglish(right)
      ? []
      : [message(`guard.${what}`, { a: left, b: right })]
  }
  const imported = [a, b].filter(({ target }) => !can(target).knowsRun)
  const rungsOfB = new Map(b.rungs.map((rung) => [rung.id, rung]))
  const unfinished = [a, b].filter(({ completion }) => completion !== 'complete')
  return {
    refusals: [
      ...differs('ladder', ({ ladder }) => ladder.id),
      ...differs('task', ({ ladder }) => word(ladder.task?.id)),
      ...differs('problem', problemWords),
      ...optionsDiffer(a, b),
    ],
    warnings: [
      ...a.rungs.flatMap((left) => {
        const right = rungsOfB.get(left.id)
        return right ? otherwiseComputed(a.ladder.task, left, right) : []
      }),
      ...differs('gpu', ({ device }) => word(device?.name)).flatMap((differ) => [
        differ,
        message('guard.otherGpu'),
      ]),
      ...differs('computeCapability', ({ device }) => word(device?.computeCapability)),
      ...differs('smCount', ({ device }) => word(device?.smCount)),
      ...differs('driver', ({ device }) => word(device?.driver)),
      ...differs('cudaDriver', ({ device }) => word(device?.cudaDriver)),
      ...clockWarning(a, b),
      ...differs('nvcc', ({ tools }) => word(tools.nvcc)),
      ...differs('nvccFlags', ({ settings }) => word(settings.nvccFlags.join(' '))),
      ...differs('ncu', ({ tools }) => word(tools.ncu)),
      ...differs('clockControl', ({ settings }) => word(settings.clockControl)),
      ...differs('cacheControl', ({ settings }) => word(settings.cacheControl)),
      ...differs('seed', ({ settings }) => word(settings.seed)),
      ...cacheStateWarning(a, b),
      ...imported.map(({ id, program }) =>
        message(program ? 'guard.ofProgram' : 'guard.imported', { id }),
      ),
      ...unfinished.map(({ id }) => message('guard.unfinished', { id })),
    ],
  }
}
