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
  /** ncu's names, the first that the report holds is taken. Source: docs/METRICS.md. */
  ncu: readonly [string, ...string[]]
}
