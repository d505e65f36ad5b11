/** The format of an entry in the metric registry. */
import { z } from 'zod'
import type { Unit } from './units'

export const profileLevels = ['none', 'card', 'standard', 'deep'] as const
export const ProfileLevel = z.enum(profileLevels)
export type ProfileLevel = z.infer<typeof ProfileLevel>
/**
 * Profiling levels for programs. `none` is excluded, because a program runs only under the
 * profiler.
 */
export const programLevels = ['card', 'standard', 'deep'] as const satisfies ProfileLevel[]

/**
 * How the metrics of a rung's kernels are combined into one figure. For example, a rung may have a
 * split kernel and a reduction kernel.
 */
export type Aggregation =
  /** Adds the kernels' counts. */
  | 'sum'
  /** Averages the kernels' rates, weighted by duration under the profiler. */
  | 'time-weighted'
  /**
   * Uses the value of the longest-running kernel, because the metric is a property of one launch.
   */
  | 'longest-kernel'

/** Groups of metrics, in the order in which lists display them. */
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
  /** The metric's meaning in one sentence. */
  meaning: string
  better: 'higher' | 'lower' | 'neither'
  /** Minimum change that counts as a difference, in addition to the variation between runs. */
  floor?: MetricFloor
  /**
   * Structural metrics depend only on the code and the problem size. Dynamic metrics depend on
   * timing and vary between runs.
   */
  kind: 'structural' | 'dynamic'
  level: Exclude<ProfileLevel, 'none'>
  aggregate: Aggregation
  group: MetricGroup
  /**
   * ncu's names for the metric. The first name that the report contains is used. The list is empty
   * for a derived metric. Source: docs/reference/metrics.md.
   */
  ncu: readonly string[]
  /** Formula for a derived metric. Absent for a metric that ncu counts. */
  derived?: MetricDerivation
  /**
   * How to sum the metric over the instructions of a deep profile. Absent if the metric describes
   * whole kernels.
   */
  perInstruction?: InstructionSum
  /**
   * Id of a structural metric for the same quantity. The structural metric does not vary between
   * runs, and is collected at the deep level.
   */
  structural?: string
}

export interface InstructionSum {
  /** Instruction field to sum (domain/session/deep). */
  figure: 'sharedWavefrontsExcess'
  /** Opcodes to include, without modifiers. */
  of: readonly string[]
}

export type MetricFloor =
  /** An absolute value in the metric's unit. */
  | { least: number }
  /**
   * A fraction of the first counter in the list that was collected. That counter includes the
   * events that the metric counts.
   */
  | { share: number; of: readonly string[] }

export interface MetricDerivation {
  /**
   * Registry ids of the metrics that the formula uses. If any of these metrics has no value, the
   * derived metric has no value.
   */
  from: readonly string[]
  /**
   * Computes the value from metrics, keyed by id. Returns null if the value is undefined, such as a
   * quotient with a divisor of zero.
   */
  of: (figures: Readonly<Record<string, number>>) => number | null
  /** Explanation displayed with the figure. */
  how: MetricHow
}

/** Message keys in ../messages/english/verdicts for the explanations. */
export type MetricHow = 'figures.fp32Operations' | 'figures.slotShare' | 'figures.noise'
