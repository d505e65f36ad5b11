/** The shape of an entry in the metric registry. */
import { z } from 'zod'
import type { Unit } from './units'

export const profileLevels = ['none', 'card', 'standard', 'deep'] as const
export const ProfileLevel = z.enum(profileLevels)
export type ProfileLevel = z.infer<typeof ProfileLevel>
/** Of a program, which is profiled or not run at all. */
export const programLevels = ['card', 'standard', 'deep'] as const satisfies ProfileLevel[]

/** How the kernels of one rung (a split and its reduction, say) combine into the rung's figure. */
export type Aggregation =
  /** Counts add. */
  | 'sum'
  /** A rate is weighted by each kernel's duration under the profiler. */
  | 'time-weighted'
  /** A property of one launch: the longest-running kernel represents the rung. */
  | 'longest-kernel'

/** What a metric is about, in the order of lists. */
export const metricGroups = [
  'occupancy',
  'shared',
  'memory',
  'arithmetic',
  'mix',
  'stalls',
  'resources',
] as const
export type MetricGroup = (typeof metricGroups)[number]

export interface MetricDefinition {
  id: string
  label: string
  unit: Unit
  /** What it means, in one sentence. */
  meaning: string
  better: 'higher' | 'lower' | 'neither'
  /** A change too small for a verdict, besides that which varies from run to run. */
  floor?: MetricFloor
  /** structural: fixed by code and shape; dynamic: depends on timing and varies from run to run. */
  kind: 'structural' | 'dynamic'
  level: Exclude<ProfileLevel, 'none'>
  aggregate: Aggregation
  group: MetricGroup
  /** ncu's names, of which the first one in the report is used; empty for a derived metric. Source: docs/METRICS.md. */
  ncu: readonly string[]
  /** How it is derived; absent for a metric that ncu counts. */
  derived?: MetricDerivation
  /** A sum over the instructions of a deep profile; absent for a metric of whole kernels. */
  perInstruction?: InstructionSum
  /** The metric that counts the same without what varies from run to run; collected at the deep level. */
  structural?: string
}

export interface InstructionSum {
  /** A figure of each instruction (domain/session/deep). */
  figure: 'sharedWavefrontsExcess'
  /** Opcodes without their modifiers. */
  of: readonly string[]
}

export type MetricFloor =
  /** An amount in the metric's unit. */
  | { least: number }
  /** A share of another counter, of which this one is a part; of the second where the first was not collected. */
  | { share: number; of: readonly string[] }

export interface MetricDerivation {
  /** Registry ids of counted metrics; if one has no value, neither has this metric. */
  from: readonly string[]
  /** Computes the value from theirs, by id; null if it is undefined (a share of nothing). */
  of: (figures: Readonly<Record<string, number>>) => number | null
  /** The explanation shown with the figure. */
  how: MetricHow
}

/** Keys of ../messages/english/verdicts. */
export type MetricHow = 'figures.fp32Operations' | 'figures.slotShare' | 'figures.noise'

// Counted metrics that follow from other counters of the same launch, for reports that hold only those: ncu's own sets
// have DRAM reads and writes and not their sum, operations a cycle and not their number. Each was compared with the
// counter itself in one report of the H200; L1 traffic differs from it by up to 0.04 %, the others not at all.

export interface MetricParts {
  /** ncu's names; without one of them, the metric has no value. */
  from: readonly string[]
  /** From their values, in this order, the value in the unit of the first. */
  of: (values: readonly number[]) => number | null
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

const operations = (op: string): MetricParts => ({
  from: [
    `smsp__sass_thread_inst_executed_op_${op}_pred_on.sum.per_cycle_elapsed`,
    'smsp__cycles_elapsed.avg',
  ],
  of: ([perCycle, cycles]) => Math.round(perCycle! * cycles!),
})

const sectorsPerRequest = (op: string): MetricParts => ({
  from: [
    `l1tex__t_sectors_pipe_lsu_mem_global_op_${op}.sum`,
    `l1tex__t_requests_pipe_lsu_mem_global_op_${op}.sum`,
  ],
  of: ([sectors, requests]) => (requests === 0 ? null : sectors! / requests!),
})

/** By registry id. */
export const metricParts: Readonly<Record<string, MetricParts>> = {
  dramBytes: { from: ['dram__bytes_read.sum', 'dram__bytes_write.sum'], of: sum },
  l2Bytes: { from: ['lts__t_sectors.sum'], of: sum },
  l1Bytes: {
    from: [
      ...['ld', 'st', 'atom', 'red'].map((op) => `lsu_mem_global_op_${op}`),
      ...['ld', 'st'].map((op) => `lsu_mem_local_op_${op}`),
      ...['ld', 'st', 'atom', 'red'].map((op) => `tex_mem_surface_op_${op}`),
      'tex_mem_texture',
    ].map((access) => `l1tex__t_sectors_pipe_${access}.sum`),
    of: sum,
  },
  globalLoadSectorsPerRequest: sectorsPerRequest('ld'),
  globalStoreSectorsPerRequest: sectorsPerRequest('st'),
  ffmaInstructions: operations('ffma'),
  faddInstructions: operations('fadd'),
  fmulInstructions: operations('fmul'),
}
