/** The format of an entry in the metric registry. */
import { z } from 'zod'
import type { Unit } from './units'

export const profileLevels = ['none', 'card', 'standard', 'deep'] as const
export const ProfileLevel = z.enum(profileLevels)
export type ProfileLevel = z.infer<typeof ProfileLevel>
/** Profiling levels of a program. A program is either profiled or not run. */
export const programLevels = ['card', 'standard', 'deep'] as const satisfies ProfileLevel[]

/**
 * The way in which metrics of a rung's kernels, such as a split and its reduction, combine into one
 * figure.
 */
export type Aggregation =
  /** Counts are added. */
  | 'sum'
  /** Each kernel's rate is weighted by its duration under the profiler. */
  | 'time-weighted'
  /**
   * The longest-running kernel represents the rung, because the metric is a property of one launch.
   */
  | 'longest-kernel'

/** Subjects of metrics, in the order of lists. */
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
  /** Meaning of the metric in one sentence. */
  meaning: string
  better: 'higher' | 'lower' | 'neither'
  /** Minimum change for a verdict, in addition to the variation between runs. */
  floor?: MetricFloor
  /**
   * Structural metrics are fixed by code and shape. Dynamic metrics depend on timing and vary
   * between runs.
   */
  kind: 'structural' | 'dynamic'
  level: Exclude<ProfileLevel, 'none'>
  aggregate: Aggregation
  group: MetricGroup
  /**
   * Names in ncu, of which the first one in the report is used. The list is empty for a derived
   * metric. Source: docs/reference/metrics.md.
   */
  ncu: readonly string[]
  /** Derivation of the metric. Absent for a metric that ncu counts. */
  derived?: MetricDerivation
  /** Sum over the instructions of a deep profile. Absent for a metric of whole kernels. */
  perInstruction?: InstructionSum
  /**
   * Id of the structural metric for the same quantity, without variation between runs. It is
   * collected at the deep level.
   */
  structural?: string
}

export interface InstructionSum {
  /** Figure of each instruction (domain/session/deep). */
  figure: 'sharedWavefrontsExcess'
  /** Opcodes without their modifiers. */
  of: readonly string[]
}

export type MetricFloor =
  /** An amount in the metric's unit. */
  | { least: number }
  /** A share of the first collected counter in the list. The metric is a part of that counter. */
  | { share: number; of: readonly string[] }

export interface MetricDerivation {
  /**
   * Registry ids of counted metrics. If one of these has no value, the derived metric has none
   * either.
   */
  from: readonly string[]
  /**
   * Returns the value computed from the metrics by id. Returns null if it is undefined, such as a
   * share of zero.
   */
  of: (figures: Readonly<Record<string, number>>) => number | null
  /** Explanation shown with the figure. */
  how: MetricHow
}

/** Message keys in ../messages/english/verdicts. */
export type MetricHow = 'figures.fp32Operations' | 'figures.slotShare' | 'figures.noise'
