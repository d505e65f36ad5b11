/** Selects the figures that a rung table shows, depending on the session's data. */
import { says } from '../messages/message'
import { sameSizes } from '../task/problem'
import type { RungResult, Session } from '../session/session'

/** Returns whether any rung has a time from the run or from ncu. */
export const hasTimes = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ timing, profiledTime }) => timing !== null || profiledTime != null)

/**
 * Columns shown instead of times: the amount of work, the instruction mix, and memory access
 * efficiency.
 */
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

/** Instruction categories whose column is hidden if no rung executes such instructions. */
const idle = new Set<string>(['ffmaShare', 'integerShare', 'memoryShare', 'controlShare'])

/**
 * Returns whether a counter was collected at the session's problem size. In an emulated lab, launch
 * figures are for the full size, and counters are for a smaller size.
 */
const isOfProblem = ({ metrics }: RungResult, id: string): boolean =>
  metrics[id]?.value != null && !says(metrics[id].reason, 'emulation.launchesAt')

/** Returns the counters to show in a table without times. */
export const countedColumns = ({ rungs }: Pick<Session, 'rungs'>): string[] =>
  counted.filter((id) => {
    const known = rungs.filter((rung) => isOfProblem(rung, id))
    return idle.has(id) ? known.some(({ metrics }) => metrics[id]!.value! > 0) : known.length > 0
  })

/**
 * Returns whether the author's published figures apply to this session's problem. Figures for
 * another problem do not belong in the same table.
 */
export const isPublishedSize = ({ ladder, problem }: Session): boolean =>
  ladder.published !== undefined &&
  problem !== null &&
  sameSizes(problem.sizes, ladder.published.size)
