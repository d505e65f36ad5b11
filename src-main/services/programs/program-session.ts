/**
 * Builds the session for a profiled program. The session has one rung per kernel, with all of the
 * kernel's launches and one launch's counters.
 */
import type { ReportFile, ReportLaunch } from '../../adapters/sessions/report-file'
import type { CollectingLevel } from '../../adapters/tools/ncu'
import type { LaunchFilters } from '../../adapters/tools/ncu-program'
import type { NvidiaSmi } from '../../adapters/tools/gpus'
import type { ErrorShape } from '../../domain/errors'
import type { Statement } from '../../domain/messages/message'
import { kernelKey, type PreviewKernel } from '../../domain/programs/choose'
import { sessionSchemaVersion, type Session } from '../../domain/session/session'
import { kernelLadder, kernelResult } from '../import/kernel-rungs'
import { deviceOf } from '../import/import-ncu'
import { distinctTitles } from '../../domain/programs/kernel-names'
import { profiledTime } from '../../domain/programs/profiled-time'
import type { ImportedCode } from '../import/imported-code'
import type { TimedLaunches } from './time-launches'
import { kernelId, type ImportedRung } from '../import/group-launches'

export interface Profiled {
  report: ReportFile | null
  launches: readonly ReportLaunch[]
  warnings: Statement[]
  /** Reason that ncu could not profile the program. */
  trouble: ErrorShape | null
}

export const keyOfLaunch = ({ kernelName, grid, block }: ReportLaunch): string =>
  kernelKey({ name: kernelName, grid, block })

export interface KernelRung extends ImportedRung {
  kernel: PreviewKernel
}

/** Returns one rung per kernel in the preview, with the kernel's profiled launches. */
export function toRungs(
  kernels: readonly PreviewKernel[],
  launches: readonly ReportLaunch[],
): KernelRung[] {
  const titles = distinctTitles(kernels)
  const taken = new Set<string>()
  const byKey = new Map<string, ReportLaunch>()
  for (const launch of launches) {
    const key = keyOfLaunch(launch)
    // One launch represents its kernel, because the counters of several launches would be summed.
    if (!byKey.has(key)) byKey.set(key, launch)
  }
  return kernels.map((kernel, index) => {
    const own = byKey.get(kernel.key)
    return {
      id: kernelId(kernel.name, index, kernels.length, taken),
      title: titles[index]!,
      launches: own ? [own] : [],
      kernel,
    }
  })
}

/** The request that is stored in a program's session. */
export interface ProgramRequest {
  command: readonly [string, ...string[]]
  filters: LaunchFilters
  level: CollectingLevel
  appVersion: string
  signal: AbortSignal
}

interface Parts {
  options: ProgramRequest
  timed: TimedLaunches
  profiled: Profiled
  rungs: readonly KernelRung[]
  code: ImportedCode
  kept: readonly PreviewKernel[]
  identity: { id: string; createdAt: Date; version: string | null }
  /**
   * This machine's driver version, or null if nvidia-smi failed. ncu's report does not contain the
   * driver version.
   */
  driver: Pick<NvidiaSmi, 'driver' | 'cuda'> | null
  warnings: Statement[]
  totals: { launches: number; totalMs: number }
}

export function toSession({
  options,
  timed,
  profiled,
  rungs,
  code,
  identity,
  driver,
  warnings,
  totals,
}: Parts): Session {
  const { command, filters, level, appVersion } = options
  const device = deviceOf(profiled.launches[0])
  const name = commandWords(command)
  return {
    schema: sessionSchemaVersion,
    id: identity.id,
    createdAt: identity.createdAt.toISOString(),
    appVersion,
    target: { kind: 'program', name },
    ladder: kernelLadder(
      { id: 'program', title: name, summary: `Kernels of ${name}.` },
      rungs,
      code,
    ),
    problem: null,
    device: device && {
      ...device,
      driver: driver?.driver ?? null,
      cudaDriver: driver?.cuda ?? null,
    },
    tools: { nvcc: null, ncu: identity.version },
    settings: {
      nvccFlags: [],
      seed: 0,
      profile: level,
      clockControl: 'none',
      cacheControl: 'none',
    },
    completion: timed.outcome === 'cancelled' || options.signal.aborted ? 'cancelled' : 'complete',
    elapsedSeconds: (Date.now() - identity.createdAt.getTime()) / 1000,
    warnings,
    rungs: rungs.map((rung) => {
      const { kernel, launches } = rung
      const { name: kernelName, grid, block, range } = kernel
      const time = profiledTime(kernel.launchesMs, timed.by)
      const result = { ...kernelResult(rung, code, level), ...(time ? { profiledTime: time } : {}) }
      if (launches.length > 0) return result
      return {
        ...result,
        profile: {
          passes: 1,
          kernels: [
            { name: kernelName, grid, block, passes: 1, ...(range === null ? {} : { range }) },
          ],
        },
      }
    }),
    program: {
      command: [...command],
      exitCode: timed.exitCode,
      filters: { ...filters },
      ...totals,
    },
  }
}

/**
 * Formats a command such as `python train.py --steps 3`. Paths are shortened to their last
 * component.
 */
export function commandWords(command: readonly string[]): string {
  const words = command
    .map((word) => (word.startsWith('/') ? (word.split('/').findLast(Boolean) ?? word) : word))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
  return words.length > 80 ? `${words.slice(0, 79)}…` : words
}
