/** Whether figures of two sessions may be set side by side, and what a reader must know when they are. Pure. */
import { message, type AnyMessage, type Statement } from '../messages/message'
import { inEnglish } from '../messages/wording'
import { problemLabel } from '../task/problem'
import { problemOf, rungOf, type RungResult, type Session } from '../session/session'

export interface Comparability {
  /** Why a comparison would mean nothing; empty when there is one to make. */
  refusals: AnyMessage[]
  /** What differs beside the code, each of which may explain a difference in the figures. */
  warnings: AnyMessage[]
}

/** Clocks wander by a few MHz between samples; beyond this share they change the times visibly. */
const clockTolerance = 0.02

export const clocksDiffer = (a: number, b: number): boolean =>
  Math.abs(a - b) > clockTolerance * Math.max(a, b)

const unknown = message('guard.unknown')

const word = (value: string | number | boolean | null | undefined): Statement =>
  value == null || value === '' ? unknown : String(value)

/** The median SM clock over all that was timed; null where the driver told none. */
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

function problemWords(session: Session): Statement {
  const problem = problemOf(session)
  if (!problem) return unknown
  const { alpha, beta } = problem
  return message('guard.problemWords', { problem: problemLabel(problem), alpha, beta })
}

/** What a rung computes, as a part of a sentence. */
function computed({ epilogue = [] }: RungResult): AnyMessage {
  const [bias, relu] = [epilogue.includes('bias'), epilogue.includes('relu')]
  if (bias) return message(relu ? 'guard.biasRelu' : 'guard.bias')
  return message(relu ? 'guard.relu' : 'guard.product')
}

const computeTheSame = (a: RungResult, b: RungResult): boolean =>
  computed(a).key === computed(b).key

/** What a reader must know of two rungs side by side; empty where they compute the same. */
export const rungWarnings = (a: RungResult, b: RungResult): AnyMessage[] =>
  computeTheSame(a, b)
    ? []
    : [message('guard.computes', { a: a.id, whatA: computed(a), b: b.id, whatB: computed(b) })]

/** What the ratio of a rung is to, where the rung does more than the reference; null where it does not. */
export function ratioWarning({ ladder }: Session, rung: RungResult): AnyMessage | null {
  const { reference } = ladder
  if (!rung.epilogue || reference === null) return null
  return message('guard.againstProduct', { rung: rung.id, what: computed(rung), reference })
}

export const ratioWarnings = (session: Session): AnyMessage[] =>
  session.rungs.flatMap((rung) => ratioWarning(session, rung) ?? [])

/** Statement of a rung that kept its name and computes something else; empty where it does not. */
export const otherwiseComputed = (a: RungResult, b: RungResult): AnyMessage[] =>
  computeTheSame(a, b)
    ? []
    : [message('guard.computesOther', { rung: a.id, a: computed(a), b: computed(b) })]

type Compared =
  | 'ladder'
  | 'problem'
  | 'dtype'
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
  | 'flushL2'

export function comparability(a: Session, b: Session): Comparability {
  const differs = (what: Compared, of: (session: Session) => Statement): AnyMessage[] => {
    const [left, right] = [of(a), of(b)]
    return inEnglish(left) === inEnglish(right)
      ? []
      : [message(`guard.${what}`, { a: left, b: right })]
  }
  const imported = [a, b].filter(({ target }) => target.kind === 'imported')
  const unfinished = [a, b].filter(({ completion }) => completion !== 'complete')
  return {
    refusals: [
      ...differs('ladder', ({ ladder }) => ladder.id),
      ...differs('problem', problemWords),
      ...differs('dtype', (session) => word(problemOf(session)?.dtype)),
    ],
    warnings: [
      ...a.rungs.flatMap((left) => {
        const right = rungOf(b, left.id)
        return right ? otherwiseComputed(left, right) : []
      }),
      ...differs('gpu', ({ device }) => word(device?.name)),
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
      ...differs('flushL2', ({ settings }) => message(settings.flushL2 ? 'guard.on' : 'guard.off')),
      ...imported.map(({ id }) => message('guard.imported', { id })),
      ...unfinished.map(({ id }) => message('guard.unfinished', { id })),
    ],
  }
}
