/**
 * The GPU units that can limit a kernel: their utilization metric, saturation threshold and work
 * counters.
 */
import {
  bottleneckThresholds,
  nearLimit,
  ownUtilization,
  type UnitLoad,
} from '../analysis/bottleneck'
import { valueOf, type Side } from './side'

export const unitIds = ['fma', 'issue', 'tensor', 'l1Data', 'lsu', 'l2', 'dram'] as const
export type UnitId = (typeof unitIds)[number]

export interface Unit {
  id: UnitId
  /** Registry id of the unit's utilization in percent. */
  busy: string
  /**
   * Time span that the percentage refers to: cycles in which an SM was active, or the whole launch.
   */
  of: 'active' | 'elapsed'
  /** Utilization in percent at which the unit is considered saturated. */
  full: number
  /** Registry ids of the counters for the unit's work, most direct first. */
  work: readonly string[]
}

const { pipe, unit } = bottleneckThresholds

export const units: Readonly<Record<UnitId, Unit>> = {
  fma: {
    id: 'fma',
    busy: 'fmaUtilization',
    of: 'active',
    full: pipe,
    work: ['fp32Instructions', 'integerInstructions'],
  },
  issue: {
    id: 'issue',
    busy: 'issueSlotsBusy',
    of: 'active',
    full: unit,
    work: ['instructions'],
  },
  tensor: { id: 'tensor', busy: 'tensorUtilization', of: 'active', full: pipe, work: [] },
  l1Data: {
    id: 'l1Data',
    busy: 'lsuDataUtilization',
    of: 'elapsed',
    full: unit,
    work: ['sharedLoadWavefronts', 'sharedStoreWavefronts', 'l1Bytes'],
  },
  lsu: {
    id: 'lsu',
    busy: 'lsuUtilization',
    of: 'active',
    full: unit,
    work: ['memoryInstructions', 'sharedLoads', 'l1Bytes'],
  },
  l2: { id: 'l2', busy: 'l2Utilization', of: 'elapsed', full: unit, work: ['l2Bytes', 'l1Bytes'] },
  dram: { id: 'dram', busy: 'dramUtilization', of: 'elapsed', full: unit, work: ['dramBytes'] },
}

/** Categories of instructions that use issue slots but do no floating-point arithmetic. */
export const overheadKinds: readonly string[] = [
  'memoryInstructions',
  'integerInstructions',
  'controlInstructions',
  'miscInstructions',
  'uniformInstructions',
  'exchangeInstructions',
]

/**
 * Returns the unit whose work or utilization a counter measures. Returns undefined if no unit is
 * assigned to the counter.
 */
export const unitOf = (metric: string): Unit | undefined => byMetric.get(metric)

const byMetric = new Map<string, Unit>([
  ...unitIds.flatMap((id) => [...units[id].work].map((metric) => [metric, units[id]] as const)),
  // Assign a unit to counters that several units list, and to counters that no unit lists.
  ['sharedLoads', units.lsu],
  ['memoryInstructions', units.issue],
  ['l1Bytes', units.l1Data],
  ['integerInstructions', units.issue],
  ['bitInstructions', units.issue],
  ['conversionInstructions', units.issue],
  ['sharedLoadBankConflicts', units.l1Data],
  ['sharedStoreBankConflicts', units.l1Data],
  ['l1HitRate', units.l2],
  ['l2HitRate', units.dram],
  ...unitIds.map((id) => [units[id].busy, units[id]] as const),
])

export interface Load extends UnitLoad {
  unit: Unit
}

const byUtilization: Readonly<Record<ReturnType<typeof ownUtilization>, Unit>> = {
  dramUtilization: units.dram,
  tensorUtilization: units.tensor,
  fmaUtilization: units.fma,
}

/**
 * Returns the unit that does the task's main work: device memory, the tensor pipe or the FMA pipe.
 */
export const ownUnit = ({ session, rung }: Side): Unit =>
  byUtilization[ownUtilization(session, rung)]

/** Returns the unit that limits a rung, or null if no unit is near its limit. */
export function limiterOf(side: Side): Load | null {
  const loads = unitIds.flatMap((id): Load[] => {
    const busy = valueOf(side, units[id].busy)
    const { busy: metric, full } = units[id]
    return busy === null ? [] : [{ id: metric, unit: units[id], busy, height: busy / full }]
  })
  return nearLimit(side.session, side.rung, loads)[0] ?? null
}
