/**
 * The metric registry, which has one entry per quantity. The program identifies metrics by the
 * registry's ids. Only the profile service and the ncu parser use ncu's names.
 */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { mixMetrics } from './instruction-mix-metrics'
import type { MetricDefinition, ProfileLevel } from './metric-definition'
import { standardMetrics } from './standard-metrics'
import { units, type Unit } from './units'
import { conflictMetrics } from './bank-conflict-metrics'

export const evidences = ['measured', 'emulated', 'predicted', 'derived', 'unavailable'] as const

/**
 * A value with its unit and evidence. Zero is a valid value. A metric that was not collected is
 * `unavailable` and has a reason.
 */
export const MetricValue = z.object({
  value: z.number().nullable(),
  unit: z.enum(units),
  evidence: z.enum(evidences),
  reason: Statement.optional(),
})
export type MetricValue = z.infer<typeof MetricValue>

export const cardMetricIds = [
  'wavesPerSm',
  'theoreticalOccupancy',
  'achievedOccupancy',
  'sharedLoads',
  'fmaUtilization',
  'sharedLoadBankConflicts',
  'sharedStoreBankConflicts',
] as const
export type CardMetricId = (typeof cardMetricIds)[number]

/**
 * Minimum change in occupancy, in percentage points. Smaller changes are ignored, because they do
 * not affect the time.
 */
const occupancyFloor = { least: 1 } as const

/**
 * Minimum change in conflicts, as a fraction of the passes that include them. ncu's rule reports
 * conflicts of 10 % or more.
 */
const conflictFloor = (of: readonly string[]) => ({ share: 0.02, of })

const cardMetrics: readonly MetricDefinition[] = [
  {
    id: 'wavesPerSm',
    label: 'Waves per SM',
    unit: 'waves',
    meaning:
      'How many waves of blocks the grid takes, where one wave fills every SM with as many blocks as fit; a small fractional part is a tail in which SMs idle.',
    better: 'neither',
    kind: 'structural',
    level: 'card',
    aggregate: 'longest-kernel',
    group: 'occupancy',
    ncu: ['launch__waves_per_multiprocessor'],
  },
  {
    id: 'theoreticalOccupancy',
    label: 'Theoretical occupancy',
    unit: '%',
    meaning:
      'Warps per SM that registers, shared memory and block size allow, as a share of the hardware limit.',
    better: 'neither',
    kind: 'structural',
    level: 'card',
    aggregate: 'longest-kernel',
    group: 'occupancy',
    ncu: ['sm__maximum_warps_per_active_cycle_pct'],
  },
  {
    id: 'achievedOccupancy',
    label: 'Achieved occupancy',
    unit: '%',
    meaning: 'Warps resident on average while an SM was active, as a share of the hardware limit.',
    better: 'neither',
    floor: occupancyFloor,
    kind: 'dynamic',
    level: 'card',
    aggregate: 'time-weighted',
    group: 'occupancy',
    ncu: ['sm__warps_active.avg.pct_of_peak_sustained_active'],
  },
  {
    id: 'sharedLoads',
    label: 'Shared-memory loads',
    unit: 'inst',
    meaning:
      'Warp-level instructions that load from shared memory; fewer for the same product means more register reuse or wider loads.',
    better: 'lower',
    kind: 'structural',
    level: 'card',
    aggregate: 'sum',
    group: 'shared',
    ncu: ['smsp__inst_executed_op_shared_ld.sum', 'smsp__sass_inst_executed_op_shared_ld.sum'],
  },
  {
    id: 'fmaUtilization',
    label: 'FMA pipe utilization',
    unit: '%',
    meaning:
      'Cycles in which the FMA pipe was busy, as a share of the cycles in which an SM was active; in FP32 arithmetic, this is the useful work.',
    better: 'higher',
    floor: { least: 0.2 },
    kind: 'dynamic',
    level: 'card',
    aggregate: 'time-weighted',
    group: 'arithmetic',
    ncu: [
      'sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active',
      'sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active',
    ],
  },
  {
    id: 'sharedLoadBankConflicts',
    label: 'Bank conflicts, shared loads',
    unit: 'conflicts',
    meaning:
      'Extra passes for shared loads, needed because lanes of a warp read different words of the same bank.',
    better: 'lower',
    floor: conflictFloor(['sharedLoadWavefronts', 'sharedLoads']),
    kind: 'dynamic',
    level: 'card',
    aggregate: 'sum',
    group: 'shared',
    ncu: ['l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum'],
    structural: 'sharedLoadStructuralConflicts',
  },
  {
    id: 'sharedStoreBankConflicts',
    label: 'Bank conflicts, shared stores',
    unit: 'conflicts',
    meaning:
      'Extra passes for shared stores, needed because lanes of a warp wrote different words of the same bank.',
    better: 'lower',
    floor: conflictFloor(['sharedStoreWavefronts', 'sharedLoads']),
    kind: 'dynamic',
    level: 'card',
    aggregate: 'sum',
    group: 'shared',
    ncu: ['l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum'],
    structural: 'sharedStoreStructuralConflicts',
  },
  {
    id: 'registersPerThread',
    label: 'Registers per thread',
    unit: 'registers',
    meaning:
      'Registers that the compiler allocated per thread; they hold the thread tile and limit how many warps fit on an SM.',
    better: 'neither',
    kind: 'structural',
    level: 'card',
    aggregate: 'longest-kernel',
    group: 'resources',
    ncu: ['launch__registers_per_thread'],
  },
]

export const metricDefinitions: readonly MetricDefinition[] = [
  ...cardMetrics,
  ...standardMetrics,
  ...mixMetrics,
  ...conflictMetrics,
]

const byId = new Map(metricDefinitions.map((metric) => [metric.id, metric]))

export const metricIds: readonly string[] = [...byId.keys()]

export const metricDefinition = (id: string): MetricDefinition | undefined => byId.get(id)

const levelRank: Record<ProfileLevel, number> = { none: 0, card: 1, standard: 2, deep: 3 }

/** Returns the metrics that a level collects, including those of all lower levels. */
export const metricsAtLevel = (level: ProfileLevel): MetricDefinition[] =>
  metricDefinitions.filter((metric) => levelRank[metric.level] <= levelRank[level])

export const unavailable = (unit: Unit, reason: Statement): MetricValue => ({
  value: null,
  unit,
  evidence: 'unavailable',
  reason,
})
