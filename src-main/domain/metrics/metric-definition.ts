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
  /** ncu's names, of which the first one in the report is used; empty for a derived metric. Source: docs/reference/metrics.md. */
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
