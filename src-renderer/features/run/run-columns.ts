/** Chooses the columns shown during a run. */
import {
  leadOf,
  leadPipe,
  type Lead,
  type LeadContext,
} from '../../../src-main/domain/analysis/lead-figure'
import { gpuById } from '../../../src-main/domain/gpu/gpu-table'
import { defaultEmulatedGpu } from '../../../src-main/domain/targets/kinds'
import {
  isBuiltOnly,
  isPredicted,
  kindOf,
  type ParsedTarget,
} from '../../../src-main/domain/targets/targets'
import type { RungResult } from '../../../src-main/domain/session/session'

interface RunColumns {
  lead: Lead
  /**
   * Whether there is a reference for ratios. A reference is assumed until a time shows that no
   * reference exists.
   */
  ratios: boolean
  metrics: readonly string[]
}

/** Metrics to show for an emulated GPU. */
export const emulatedMetrics = [
  'instructions',
  'globalLoadSectorsPerRequest',
  'sharedLoadBankConflicts',
  'sharedStoreBankConflicts',
] as const

export const builtMetrics = ['registersPerThread', 'theoreticalOccupancy', 'wavesPerSm'] as const

export function runColumns(context: LeadContext, results: readonly RungResult[]): RunColumns {
  const timings = results.flatMap(({ timing }) => timing ?? [])
  const pipe = leadPipe(context)
  const profiled = results.filter(({ profile }) => profile !== null)
  // The card level collects only the FMA pipe's utilization.
  const pipeKnown = profiled.length === 0 || profiled.some(({ metrics }) => metrics[pipe])
  return {
    lead: leadOf(context),
    ratios:
      timings.length === 0 || timings.some(({ ratioToReference }) => ratioToReference !== null),
    metrics: ['achievedOccupancy', ...(pipeKnown ? [pipe] : []), 'sharedLoads'],
  }
}

/**
 * Returns whether a run without a GPU builds for, emulates, or predicts a GPU, and that GPU's name.
 * Returns null if the run has a GPU or replays a recording.
 */
export function placeWords(
  target: ParsedTarget,
): { how: 'builtFor' | 'emulatedOn' | 'predictedFor'; gpu: string } | null {
  if (!kindOf(target).namesGpu) return null
  const name = target.name ?? defaultEmulatedGpu
  return {
    how: isBuiltOnly(target) ? 'builtFor' : isPredicted(target) ? 'predictedFor' : 'emulatedOn',
    gpu: gpuById(name)?.name ?? name,
  }
}
