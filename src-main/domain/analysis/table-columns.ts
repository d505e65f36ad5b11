/** Which figures a table of rungs shows: those that its session has. Pure. */
import { says } from '../messages/message'
import { sameSizes } from '../task/problem'
import type { RungResult, Session } from '../session/session'

/** Whether anything was timed, by the run or by ncu. */
export const hasTimes = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ timing, profiledTime }) => timing !== null || profiledTime != null)

/** Columns shown instead of times: work, its mix, and how memory is accessed. */
const counted = [
  'instructions',
  'ffmaShare',
  'integerShare',
  'memoryShare',
  'controlShare',
  'globalLoadSectorsPerRequest',
  'sharedLoadBankConflicts',
  'sharedStoreBankConflicts',
  'wavesPerSm',
  'theoreticalOccupancy',
] as const

/** Categories whose column is hidden if no rung executes them. */
const idle = new Set<string>(['ffmaShare', 'integerShare', 'memoryShare', 'controlShare'])

/** Launches of an emulated lab are those of its full size; its counts are of a smaller size. */
const isOfProblem = ({ metrics }: RungResult, id: string): boolean =>
  metrics[id]?.value != null && !says(metrics[id].reason, 'emulation.launchesAt')

/** Returns the counters of a table without times. */
export const countedColumns = ({ rungs }: Pick<Session, 'rungs'>): string[] =>
  counted.filter((id) => {
    const known = rungs.filter((rung) => isOfProblem(rung, id))
    return idle.has(id) ? known.some(({ metrics }) => metrics[id]!.value! > 0) : known.length > 0
  })

/** Whether an author's published figures apply to the problem that was run, so that they fit in the same table. */
export const isPublishedSize = ({ ladder, problem }: Session): boolean =>
  ladder.published !== undefined &&
  problem !== null &&
  sameSizes(problem.sizes, ladder.published.size)
