/** Tracks one rung in a ladder of programs during a run and computes its result. */
import { createHash } from 'node:crypto'
import type { ProgramFolder } from '../../adapters/catalog/program-folder'
import type { LadderRung } from '../../domain/ladder/ladder'
import type { Statement } from '../../domain/messages/message'
import { previewKernels, type PreviewLaunch } from '../../domain/programs/choose'
import type {
  ProgramRun,
  RungResult,
  RungStatus,
  Timing,
  Verify,
} from '../../domain/session/session'
import { medianInterval, ascending, quantile } from '../../domain/analysis/confidence-intervals'
import { profiledTime } from '../../domain/programs/profiled-time'

export interface ProgramState {
  rung: LadderRung
  /** Command that starts the rung's program. */
  command: readonly [string, ...string[]]
  run: ProgramRun | null
  verify: Verify | null
  trouble: { status: RungStatus; reason: Statement } | null
  /** Wall time of each timed run, in milliseconds. */
  samplesMs: number[]
  /** Whether all of the ladder's rounds have finished. */
  timed: boolean
  launches: readonly PreviewLaunch[]
}

export const stateOf = (rung: LadderRung): ProgramState => ({
  rung,
  command: rung.program as [string, ...string[]],
  run: null,
  verify: null,
  trouble: null,
  samplesMs: [],
  timed: false,
  launches: [],
})

const medianOf = (samples: readonly number[]): number => quantile(ascending(samples), 0.5)

/**
 * A time has settled if each end of its interval differs from the median by at most this fraction.
 */
const settledShare = 0.005

function timingOf(samplesMs: readonly number[], reference: number | null): Timing {
  const sorted = ascending(samplesMs)
  const medianMs = medianOf(samplesMs)
  const interval = medianInterval(samplesMs)
  return {
    // When a process starts, the L2 cache contains other processes' data.
    cacheState: 'unknown',
    medianMs,
    spread: (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / medianMs,
    samples: samplesMs.length,
    samplesMs: [...samplesMs],
    settled: interval !== null && (interval.high - interval.low) / 2 <= settledShare * medianMs,
    gflops: null,
    ratioToReference: reference === null ? null : reference / medianMs,
    referenceMedianMs: reference,
    smClockBeforeMHz: null,
    smClockAfterMHz: null,
  }
}

/** Maximum number of stored kernels, which limits the size of the session file. */
const mostKernels = 500

function kernelsOf(
  launches: readonly PreviewLaunch[],
): Pick<RungResult, 'profile' | 'profiledTime'> {
  const time = profiledTime(launches.map(({ ms }) => ms))
  if (!time) return { profile: null }
  const kernels = previewKernels(launches)
  const kept = new Set([...kernels].sort((a, b) => b.totalMs - a.totalMs).slice(0, mostKernels))
  return {
    profiledTime: time,
    profile: {
      passes: 1,
      kernels: kernels
        .filter((kernel) => kept.has(kernel))
        .map(({ name, grid, block, range, launchesMs }) => ({
          ...{ name, grid, block, passes: 1 },
          ...(range === null ? {} : { range }),
          profiledTime: profiledTime(launchesMs)!,
        })),
    },
  }
}

/** Returns a rung's result. Includes times only after all rounds have ended or been stopped. */
export function programResult(
  { rung, run, verify, trouble, samplesMs, timed, launches }: ProgramState,
  reference: ProgramState | undefined,
  { sources, ladder }: ProgramFolder,
): RungResult {
  const text = sources.get(rung.file.slice(ladder.id.length + 1))
  const isTimed = timed && !trouble && samplesMs.length > 0
  const referenceMs =
    reference && !reference.trouble && reference.samplesMs.length > 0
      ? medianOf(reference.samplesMs)
      : null
  return {
    id: rung.id,
    title: rung.title,
    after: rung.header.after,
    idea: rung.header.idea,
    expect: [],
    flags: [],
    params: {},
    file: rung.file,
    sourceHash: text === undefined ? '' : createHash('sha256').update(text).digest('hex'),
    status: trouble?.status ?? (isTimed ? 'ok' : 'not-run'),
    ...(trouble ? { reason: trouble.reason } : {}),
    diagnostics: [],
    build: null,
    verify,
    timing: isTimed ? timingOf(samplesMs, referenceMs) : null,
    ...(run
      ? { program: run }
      : { program: { command: rung.program!, exitCode: null, output: null } }),
    ...kernelsOf(launches),
    metrics: {},
  }
}
