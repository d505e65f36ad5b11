/**
 * Imports an ncu report as a session. Values missing from the file are set to null and never
 * guessed.
 */
import { cp } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { diskError } from '../../adapters/disk/disk'
import {
  launchMs,
  readReportFile,
  unpackReport,
  type UnpackedReport,
  type ReportFile,
  type ReportLaunch,
} from '../../adapters/sessions/report-file'
import { draftSession } from '../../adapters/sessions/session-store'
import { refuseTaken, takenMeanwhile } from '../../adapters/disk/staging'
import { message, says, type Statement } from '../../domain/messages/message'
import { type ErrorShape } from '../../domain/errors'
import { formatMs, formatShare } from '../../domain/metrics/units'
import { metricsAtLevel, type MetricValue } from '../../domain/metrics/metrics'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { sessionSchemaVersion, type RungResult, type Session } from '../../domain/session/session'
import type { DeepProfile } from '../../domain/session/deep'
import { kernelLadder, kernelResult } from './kernel-rungs'
import type { Device } from '../../domain/gpu/device'
import { importCode, type ImportedCode } from './imported-code'
import { arrange, launchRungs, type Arrangement, type ImportedRung } from './group-launches'

export interface ImportOptions extends Arrangement {
  /** Folder for saved sessions, used if `out` is not set. */
  store: string
  /** Output folder, which must not exist. */
  out?: string
  appVersion: string
}

export interface ImportResult {
  session: Session
  folder: string
  /** Reason that `folder` differs from the requested folder, or null if they are the same. */
  misplaced: ErrorShape | null
}

export const saved = (session: Session, folder: string, out: string | undefined): ImportResult => ({
  session,
  folder,
  misplaced: out === undefined ? null : takenMeanwhile(out, folder),
})

export async function importReport(path: string, options: ImportOptions): Promise<ImportResult> {
  const file = resolve(path)
  const name = basename(file)
  // Check the output folder first. Otherwise, a write failure would be noticed only after reading
  // gigabytes.
  if (options.out !== undefined) await refuseTaken(options.out)
  const claimed = options.out === undefined ? null : await draftSession(options.out)
  let unpacked: UnpackedReport | null = null
  try {
    unpacked = await unpackReport(file)
    const report = await readReportFile(unpacked.path, file)
    report.notes.push(...unpacked.notes)
    const rungs = arrange(launchRungs(report.launches), options)
    const id = `imported-${slug(name)}-${stamp(report.createdAt)}`
    const draft = claimed ?? (await draftSession(join(options.store, id)))
    try {
      if (report.format === 'ncu-rep')
        await cp(unpacked.path, draft.reportPath).catch((error: unknown) => {
          throw diskError(error, draft.reportPath, 'write')
        })
      const code = importCode(report, rungs, name)
      for (const profile of code.deep) await draft.addDeep(profile)
      for (const [path, text] of code.sources) await draft.addSource(path, text)
      const session = toSession(report, rungs, code, { id, name, appVersion: options.appVersion })
      return saved(session, await draft.commit(session), options.out)
    } catch (error) {
      await draft.discard()
      throw error
    }
  } catch (error) {
    await claimed?.discard()
    throw error
  } finally {
    await unpacked?.remove()
  }
}

/** An imported report's contents, before they are saved. */
export interface ReadImport {
  session: Session
  /** Source text by rung id. */
  sources: Record<string, string>
  /** Returns a rung's deep profile, or null if there is none. */
  deep(rung: string): Promise<DeepProfile | null>
}

/** Reads a report as a session without saving it. */
export async function readImport(
  path: string,
  options: Omit<ImportOptions, 'store' | 'out'>,
): Promise<ReadImport> {
  const file = resolve(path)
  const name = basename(file)
  const unpacked = await unpackReport(file)
  try {
    const report = await readReportFile(unpacked.path, file)
    report.notes.push(...unpacked.notes)
    const rungs = arrange(launchRungs(report.launches), options)
    const code = importCode(report, rungs, name)
    const id = `imported-${slug(name)}-${stamp(report.createdAt)}`
    const session = toSession(report, rungs, code, { id, name, appVersion: options.appVersion })
    const sources = session.rungs.flatMap(({ id: rung, file: of }) => {
      const text = code.sources.get(of)
      return text === undefined ? [] : [[rung, text] as const]
    })
    return {
      session,
      sources: Object.fromEntries(sources),
      deep: (rung) => Promise.resolve(code.deep.find((one) => one.rung === rung) ?? null),
    }
  } finally {
    await unpacked.remove()
  }
}

const slug = (name: string): string =>
  name
    .replace(/\.[^.]*$/, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60) || 'report'

const stamp = (date: Date): string =>
  date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')

interface Naming {
  id: string
  /** File name without the folder, because a path reveals user and machine names. */
  name: string
  appVersion: string
}

function toSession(
  report: ReportFile,
  rungs: readonly ImportedRung[],
  code: ImportedCode,
  naming: Naming,
): Session {
  const level = code.counted ? 'deep' : levelOf(report.launches)
  const device = deviceOf(report.launches[0])
  const option = (flag: string): string | null =>
    new RegExp(`--${flag}[ =](\\w+)`).exec(report.commandLine ?? '')?.[1] ?? null
  return {
    schema: sessionSchemaVersion,
    id: naming.id,
    createdAt: report.createdAt.toISOString(),
    appVersion: naming.appVersion,
    target: { kind: 'imported', name: naming.name },
    ladder: kernelLadder(
      {
        id: 'imported',
        title: naming.name.replace(/\.(ncu-repz?|csv|txt|out|log)$/i, '') || naming.name,
        summary: `Imported from ${naming.name}.`,
      },
      rungs,
      code,
    ),
    problem: null,
    device,
    tools: { nvcc: null, ncu: report.ncuVersion },
    settings: {
      nvccFlags: [],
      seed: 0,
      profile: level,
      clockControl: option('clock-control'),
      cacheControl: option('cache-control'),
    },
    completion: 'complete',
    elapsedSeconds: 0,
    warnings: warningsOf(report, device, naming.name),
    rungs: rungs.map((rung) => toResult(rung, code, level, naming.name)),
  }
}

/**
 * Returns the fraction of a report's time that the imported launches cover. Returns an empty list
 * if all launches were imported.
 */
function shareWords({ launches, total, restMs }: ReportFile): Statement[] {
  const times = launches.map(launchMs)
  if (total === launches.length || restMs === null || times.includes(null)) return []
  const ms = times.reduce<number>((sum, own) => sum + own!, 0)
  const all = ms + restMs
  const share = formatShare(ms / all)
  return [message('records.importedShare', { time: formatMs(ms), total: formatMs(all), share })]
}

/** Newest ncu version whose parsed values were all compared with ncu's own output. */
const checkedNcu = [2025, 3]

/**
 * Returns a warning if the parsed values of this ncu version were not compared with ncu's own
 * output.
 */
function newerNcu({ ncuVersion, format }: ReportFile): Statement[] {
  const [year = 0, minor = 0] = (ncuVersion ?? '').split('.').map(Number)
  const isNewer = year > checkedNcu[0]! || (year === checkedNcu[0] && minor > checkedNcu[1]!)
  return format === 'ncu-rep' && isNewer
    ? [message('imports.newerNcu', { version: ncuVersion!, known: checkedNcu.join('.') })]
    : []
}

function warningsOf(report: ReportFile, device: Device | null, name: string): Statement[] {
  const { launches, total, notes, format } = report
  const devices = new Set(launches.map(({ device: index }) => index))
  return [
    message('records.imported', { file: name }),
    ...(total > launches.length
      ? [message('records.importedFirst', { file: name, total, count: launches.length })]
      : []),
    ...shareWords(report),
    ...newerNcu(report),
    ...(format === 'details-csv' ? [message('records.detailsPage')] : []),
    ...(device ? [] : [message('records.gpuUnclear', { file: name })]),
    ...(devices.size > 1 ? [message('records.severalGpus', { count: devices.size })] : []),
    ...notes,
  ]
}

function toResult(
  rung: ImportedRung,
  code: ImportedCode,
  level: ProfileLevel,
  name: string,
): RungResult {
  const result = kernelResult(rung, code, level)
  return {
    ...result,
    metrics: Object.fromEntries(
      Object.entries(result.metrics).map(([key, value]) => [key, withOrigin(value, name)]),
    ),
  }
}

const withOrigin = (value: MetricValue, name: string): MetricValue =>
  value.evidence === 'unavailable'
    ? // The GPU may support the metric, but ncu did not collect it.
      {
        ...value,
        reason: message('records.importedWithout', {
          file: name,
          why: withoutGpu(value.reason ?? ''),
        }),
      }
    : value

/**
 * Rewords the reason for a missing metric if the reason blames the GPU, because a file may lack
 * metrics that the GPU supports.
 */
function withoutGpu(reason: Statement): Statement {
  if (says(reason, 'records.notReported')) return message('records.notReportedHere', reason.values)
  if (says(reason, 'figures.follows')) {
    const { metric, why } = reason.values
    return message('figures.follows', { metric, why: withoutGpu(why as Statement) })
  }
  return reason
}

/**
 * Returns the highest profile level for which the report has any metric. The deep level, which has
 * per-line counters, is not considered. Metrics without a level keep ncu's names.
 */
function levelOf(launches: readonly ReportLaunch[]): ProfileLevel {
  const isReported = metricsAtLevel('standard').some(
    ({ level, ncu }) =>
      level === 'standard' &&
      ncu.some((name) => launches.some(({ metrics }) => metrics[name] !== undefined)),
  )
  return isReported ? 'standard' : 'card'
}

/** Reads the device from ncu's attributes. Returns null if a required attribute is missing. */
export function deviceOf(launch: ReportLaunch | undefined): Device | null {
  const attribute = (name: string): number | string | null =>
    launch?.metrics[`device__attribute_${name}`]?.value ?? null
  const figures = {
    smCount: attribute('multiprocessor_count'),
    memoryTotalBytes: attribute('total_memory'),
    l2Bytes: attribute('l2_cache_size'),
    sharedPerSmBytes: attribute('max_shared_memory_per_multiprocessor'),
    sharedPerBlockOptinBytes: attribute('max_shared_memory_per_block_optin'),
    registersPerSm: attribute('max_registers_per_multiprocessor'),
    maxThreadsPerSm: attribute('max_threads_per_multiprocessor'),
    maxBlocksPerSm: attribute('max_blocks_per_multiprocessor'),
  }
  const name = attribute('display_name')
  const kHz = attribute('clock_rate')
  const memoryKHz = attribute('memory_clock_rate')
  const busBits = attribute('global_memory_bus_width')
  if (!allNumbers(figures) || typeof name !== 'string' || !launch?.computeCapability) return null
  return {
    name,
    computeCapability: launch.computeCapability,
    driver: null,
    cudaDriver: null,
    smClockMaxMHz: typeof kHz === 'number' ? kHz / 1000 : null,
    memoryClockMHz: typeof memoryKHz === 'number' ? memoryKHz / 1000 : null,
    memoryBusBits: typeof busBits === 'number' ? busBits : null,
    ...figures,
  }
}

const allNumbers = <T extends Record<string, unknown>>(
  values: T,
): values is T & Record<keyof T, number> =>
  Object.values(values).every((value) => typeof value === 'number')
