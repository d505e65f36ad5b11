/** What an entry of the metric registry says. */
import { z } from 'zod'
import type { Unit } from './units'

export const profileLevels = ['none', 'card', 'standard', 'deep'] as const
export const ProfileLevel = z.enum(profileLevels)
export type ProfileLevel = z.infer<typeof ProfileLevel>

/** How the kernels of one rung (a reduction after a split, say) add up to the rung's figure. */
export type Aggregation =
  /** Counts add. */
  | 'sum'
  /** A rate is weighted by each kernel's duration under the profiler. */
  | 'time-weighted'
  /** A property of one launch: the kernel that ran longest speaks for the rung. */
  | 'longest-kernel'

/** What a metric tells of, in the order in which lists have them. */
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
  /** structural: fixed by code and shape; dynamic: depends on timing and moves from run to run. */
  kind: 'structural' | 'dynamic'
  level: Exclude<ProfileLevel, 'none'>
  aggregate: Aggregation
  group: MetricGroup
  /** ncu's names, the first that the report holds is taken; none of a derived one. Source: docs/METRICS.md. */
  ncu: readonly string[]
  /** What it is worked out from; absent of what ncu counts. */
  derived?: MetricDerivation
}

export interface MetricDerivation {
  /** Registry ids of counted metrics; where one has no figure, there is none of this. */
  from: readonly string[]
  /** Of their figures, by id; null where they have no such figure (a share of nothing). */
  of: (figures: Readonly<Record<string, number>>) => number | null
  /** How, in words that stand beside the figure. */
  how: MetricHow
}

/** Keys of ./messages/english/figures. */
export type MetricHow = 'figures.fp32Operations' | 'figures.slotShare'
