/** Which figures a run is shown by while it goes on. Pure. */
import {
  leadOf,
  leadPipe,
  type Lead,
  type LeadContext,
} from '../../../src-main/domain/analysis/lead-figure'
import type { RungResult } from '../../../src-main/domain/session/session'

interface RunColumns {
  lead: Lead
  /** There is a reference to take ratios to; assumed until a time shows that there is none. */
  ratios: boolean
  metrics: readonly string[]
}

/** On an emulated GPU. */
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
  // The card level collects the FMA pipe alone.
  const pipeKnown = profiled.length === 0 || profiled.some(({ metrics }) => metrics[pipe])
  return {
    lead: leadOf(context),
    ratios:
      timings.length === 0 || timings.some(({ ratioToReference }) => ratioToReference !== null),
    metrics: ['achievedOccupancy', ...(pipeKnown ? [pipe] : []), 'sharedLoads'],
  }
}
