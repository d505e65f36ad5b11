/** The GPU, the resources of the kernel, and the options for the prediction of a launch. */
import type { SmLimits } from '../gpu/sm-limits'
import type { Ablation } from './ablation'
import type { ParameterValues } from './parameter-table'

export interface LaunchSetting {
  readonly values: ParameterValues
  readonly limits: SmLimits
  /** Parts of the model to disable. */
  readonly ablate: readonly Ablation[]
  readonly registers: number
  readonly staticSharedBytes: number
  /** Whether to repeat the simulation once per cause of stalls, with that cause removed. */
  readonly removes: boolean
  /**
   * Overhead of a launch: the cycles between two events around an empty launch. The overhead is
   * different for a launch that follows another launch.
   */
  readonly overheadCycles: number
}
