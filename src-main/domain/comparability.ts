/** Whether figures of two sessions may be set side by side, and what a reader must know when they are. Pure. */
import { problemLabel } from './problem'
import { problemOf, type Session } from './session'

export interface Comparability {
  /** Why a comparison would mean nothing; empty when there is one to make. */
  refusals: string[]
  /** What differs beside the code, each of which may explain a difference in the figures. */
  warnings: string[]
}

/** Clocks wander by a few MHz between samples; from here on they change the times visibly. */
const clockTolerance = 0.02

const word = (value: string | number | boolean | null | undefined): string =>
  value == null || value === '' ? 'unknown' : String(value)

/** The median SM clock over all that was timed; null where the driver told none. */
function medianClock(session: Session): number | null {
  const clocks = session.rungs
    .flatMap(({ timing }) => [timing?.smClockBeforeMHz, timing?.smClockAfterMHz])
    .filter((clock) => clock != null)
    .sort((a, b) => a - b)
  return clocks[Math.floor(clocks.length / 2)] ?? null
}

function clockWarning(a: Session, b: Session): string[] {
  const [left, right] = [medianClock(a), medianClock(b)]
  if (left === null || right === null)
    return left === right ? [] : ['The SM clock is known of one session only.']
  return Math.abs(left - right) <= clockTolerance * Math.max(left, right)
    ? []
    : [`The SM clock differs: ${left} MHz and ${right} MHz.`]
}

function problemWords(session: Session): string {
  const problem = problemOf(session)
  if (!problem) return 'unknown'
  return `${problemLabel(problem)}, alpha ${problem.alpha}, beta ${problem.beta}`
}

export function comparability(a: Session, b: Session): Comparability {
  const differs = (what: string, of: (session: Session) => string): string[] =>
    of(a) === of(b) ? [] : [`The ${what} differs: ${of(a)} and ${of(b)}.`]
  const imported = [a, b].filter(({ target }) => target.kind === 'imported')
  const unfinished = [a, b].filter(({ completion }) => completion !== 'complete')
  return {
    refusals: [
      ...differs('ladder', ({ ladder }) => ladder.id),
      ...differs('problem', problemWords),
      ...differs('data type', (session) => problemOf(session)?.dtype ?? 'unknown'),
    ],
    warnings: [
      ...differs('GPU', ({ device }) => word(device?.name)),
      ...differs('number of SMs', ({ device }) => word(device?.smCount)),
      ...differs('driver', ({ device }) => word(device?.driver)),
      ...differs('CUDA version of the driver', ({ device }) => word(device?.cudaDriver)),
      ...clockWarning(a, b),
      ...differs('compiler (nvcc)', ({ tools }) => word(tools.nvcc)),
      ...differs('compiler flags', ({ settings }) => word(settings.nvccFlags.join(' '))),
      ...differs('profiler (ncu)', ({ tools }) => word(tools.ncu)),
      ...differs('clock control under ncu', ({ settings }) => word(settings.clockControl)),
      ...differs('cache control under ncu', ({ settings }) => word(settings.cacheControl)),
      ...differs('seed', ({ settings }) => word(settings.seed)),
      ...differs('L2 flush between samples', ({ settings }) => (settings.flushL2 ? 'on' : 'off')),
      ...imported.map(({ id }) => `The session ${id} is imported: what it computed is not known.`),
      ...unfinished.map(({ id }) => `The session ${id} was cancelled before its end.`),
    ],
  }
}
