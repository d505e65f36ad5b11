/** Which figures a table of rungs shows: those that its session has. Pure. */
import { says } from '../messages/message'
import { sameSizes } from '../task/problem'
import type { RungResult, Session } from '../session/session'

/** Whether anything was timed, by the run or by ncu. */
export const hasTimes = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ timing, profiledTime }) => timing !== null || profiledTime != null)

/** What stands in place of times: work, its mix, and how memory is accessed. */
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

/** Categories that no rung executes. */
const idle = new Set<string>(['ffmaShare', 'integerShare', 'memoryShare', 'controlShare'])

/** The launches of an emulated lab are those at its full size, where its counts are of a smaller one. */
const isOfProblem = ({ metrics }: RungResult, id: string): boolean =>
  metrics[id]?.value != null && !says(metrics[id].reason, 'emulation.launchesAt')

/** The counters of a table without times. */
export const countedColumns = ({ rungs }: Pick<Session, 'rungs'>): string[] =>
  counted.filter((id) => {
    const known = rungs.filter((rung) => isOfProblem(rung, id))
    return idle.has(id) ? known.some(({ metrics }) => metrics[id]!.value! > 0) : known.length > 0
  })

/** Whether an author's published figures are of the problem that was run, so that they can be in one table with ours. */
export const isPublishedSize = ({ ladder, problem }: Session): boolean =>
  ladder.published !== undefined &&
  problem !== null &&
  sameSizes(problem.sizes, ladder.published.size)
