/** Reads a file that ncu wrote. The file's first bytes determine the parser. */
import { createReadStream } from 'node:fs'
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { message, says, together, type Statement } from '../../domain/messages/message'
import { inputError, KernelLadderError, errorText } from '../../domain/errors'
import type { MetricValue } from '../../domain/metrics/metrics'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import type { Instruction } from '../../domain/session/deep'
import type {
  NcuMetrics,
  Profile,
  ProfiledKernel,
  ProfiledTime,
} from '../../domain/session/session'
import type { NcuLaunch } from '../../parsers/ncu/ncu-csv'
import { readNcuCsv } from '../../parsers/ncu/ncu-csv-stream'
import { launchMs, toMetrics } from '../../parsers/ncu/ncu-metrics'
import type { LaunchCode } from '../../parsers/ncu/ncu-rep-code'
import {
  isSourcePage,
  parseSourcePage,
  unreadableNotes,
  sourcePageLaunches,
} from '../../parsers/ncu/ncu-source'
import { toDeepProfiles } from '../../parsers/ncu/ncu-deep'
import { errorCode } from '../disk/disk'
import { fileSource } from '../disk/file-source'
import { isZstd, unpackZstd } from '../disk/unpack-zstd'
import { type ReadReport } from '../../parsers/report/report-html'
import { profiledTime } from '../../domain/programs/profiled-time'
import { launchResources } from '../../parsers/ncu/ncu-launch-resources'

export type ReportLaunch = NcuLaunch
export { launchMs }

/** Maps a path that the compiler recorded to the file's name in the session. */
export type NameFile = (path: string) => string

export interface ReportFile {
  format: 'ncu-rep' | 'raw-csv' | 'details-csv' | 'source-csv'
  launches: ReportLaunch[]
  /** Number of launches in the file. `launches` contains only the first launches. */
  total: number
  /**
   * Total time, measured under ncu, of the launches that are not in `launches`. Null if any of
   * these times is unknown.
   */
  restMs: number | null
  ncuVersion: string | null
  createdAt: Date
  /**
   * ncu's command line, or null if the file does not contain it. The command line contains paths on
   * the machine that ran ncu.
   */
  commandLine: string | null
  /** Messages about unreadable parts, and ncu's warnings. */
  notes: Statement[]
  /** Returns a launch's code and counters, or null if the file does not contain them. */
  codeOf: (launch: ReportLaunch, nameOf: NameFile) => LaunchCode | null
}

/**
 * Limits on the data that a session stores and the UI can show. A training run's report can exceed
 * the limit on launches.
 */
const budget = { launches: 500, values: 250_000 }

function readError(error: unknown, path: string): unknown {
  if (error instanceof KernelLadderError) return error
  switch (errorCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return inputError(message('imports.noFile', { file: path }), message('imports.nameFile'))
    case 'EACCES':
    case 'EPERM':
      return inputError(
        message('imports.notAllowed', { file: path }),
        message('imports.changePermissions'),
      )
    default:
      return inputError(message('imports.unreadable', { file: path, text: errorText(error) }))
  }
}

/**
 * Load the parser on demand. Registering the messages with the protobuf library takes time, and few
 * commands read a report.
 */
const ncuRep = () => import('../../parsers/ncu/ncu-rep')

/** Maximum size of an unpacked report in GB. A training run's report takes up a few gigabytes. */
const mostUnpackedGb = 16

export interface UnpackedReport {
  path: string
  notes: Statement[]
  remove: () => Promise<void>
}

/**
 * Returns an uncompressed report, which is the file itself or a temporary file with the contents of
 * a `.ncu-repz` file.
 */
export async function unpackReport(path: string): Promise<UnpackedReport> {
  try {
    await statFile(path)
    if (!isZstd(await readStart(path))) return { path, notes: [], remove: () => Promise.resolve() }
    const folder = await mkdtemp(join(tmpdir(), 'kernel-ladder-report-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    try {
      const unpacked = join(folder, 'report.ncu-rep')
      const outcome = await unpackZstd(path, unpacked, mostUnpackedGb * 2 ** 30)
      if (outcome === 'too-large')
        throw inputError(
          message('imports.tooLarge', { file: path, size: mostUnpackedGb }),
          message('imports.unpackFirst', { file: JSON.stringify(path) }),
        )
      const damaged = message('imports.packedDamaged', { file: basename(path) })
      if ((await stat(unpacked)).size === 0)
        throw inputError(damaged, message('imports.exportAgain'))
      return { path: unpacked, notes: outcome === 'damaged' ? [damaged] : [], remove }
    } catch (error) {
      await remove()
      throw error
    }
  } catch (error) {
    throw readError(error, path)
  }
}

/**
 * Reads a report. If nothing can be imported, throws an input error. In the error, the file is
 * called `given`.
 */
export async function readReportFile(path: string, given = path): Promise<ReportFile> {
  try {
    const { size, mtime } = await statFile(path)
    const start = await readStart(path)
    const report = (await ncuRep()).isNcuRep(start)
      ? await readReport(path, mtime)
      : await readCsv(path, start, size, mtime)
    if (report.launches.length === 0)
      throw inputError(
        together(message('imports.noLaunch', { file: given }), ...report.notes.slice(0, 3)),
        message(
          report.notes.some((note) => says(note, 'imports.ranges'))
            ? 'imports.profileKernels'
            : 'imports.importWhat',
        ),
      )
    return report
  } catch (error) {
    throw readError(error, given)
  }
}

async function statFile(path: string): Promise<{ size: number; mtime: Date }> {
  const found = await stat(path)
  // Don't read a pipe or a device, because the read may never finish.
  if (!found.isFile())
    throw inputError(
      message(found.isDirectory() ? 'imports.folder' : 'imports.notRegular', { file: path }),
      message('imports.nameFile'),
    )
  if (found.size === 0)
    throw inputError(message('imports.empty', { file: path }), message('imports.exportAgain'))
  return found
}

async function readStart(path: string): Promise<Uint8Array> {
  const handle = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function readReport(path: string, mtime: Date): Promise<ReportFile> {
  const { take } = collector()
  const report = (await ncuRep()).parseNcuRep(fileSource(path), take)
  return {
    ...report,
    format: 'ncu-rep',
    createdAt: report.createdAt ?? mtime,
  }
}

/** Collects launches from the start of a report until the limits are reached. */
function collector(): { launches: ReportLaunch[]; take: (launch: ReportLaunch) => boolean } {
  const launches: ReportLaunch[] = []
  let values = 0
  return {
    launches,
    take(launch) {
      launches.push(launch)
      values += Object.keys(launch.metrics).length
      return launches.length < budget.launches && values < budget.values
    },
  }
}

function withinBudget(all: readonly ReportLaunch[]): ReportLaunch[] {
  const { launches, take } = collector()
  for (const launch of all) if (!take(launch)) break
  return launches
}

/**
 * Maximum size of a source page in bytes. The page is read completely, because a launch is known to
 * be complete only when the next one begins.
 */
const maxSourcePageBytes = 2 ** 28

async function readSourceCsv(
  path: string,
  encoding: BufferEncoding,
  size: number,
  mtime: Date,
): Promise<ReportFile> {
  if (size > maxSourcePageBytes)
    throw inputError(
      message('imports.tooLargePage', { file: path, size: maxSourcePageBytes / 2 ** 20 }),
      message('imports.nameReport'),
    )
  const page = parseSourcePage(await readFile(path, encoding))
  const launches = sourcePageLaunches(page)
  const none = { sections: [], unreadable: 0 }
  const hasFiles = page.sections.some(({ file }) => file !== null)
  return {
    format: 'source-csv',
    launches: withinBudget(launches),
    total: launches.length,
    restMs: null,
    ncuVersion: null,
    createdAt: mtime,
    commandLine: null,
    notes: unreadableNotes(
      page.sections.reduce((sum, { unreadable }) => sum + unreadable, page.unreadable),
    ),
    codeOf(launch, nameOf) {
      const parts = hasFiles ? { sass: none, lines: page } : { sass: page, lines: none }
      // Give each launch a separate range, so that each launch gets a separate profile.
      const named = launches.map((own) => ({ ...own, rung: String(own.id) }))
      const kernel = toDeepProfiles(named, { ...parts, rules: new Map(), nameOf }).get(
        String(launch.id),
      )?.kernels[0]
      return kernel ? { kernel, sources: [], unknown: [] } : null
    },
  }
}

async function readCsv(
  path: string,
  start: Uint8Array,
  size: number,
  mtime: Date,
): Promise<ReportFile> {
  // Output that PowerShell redirects to a file is encoded in UTF-16.
  const utf16 = start[0] === 0xff && start[1] === 0xfe
  if (!utf16 && start.includes(0))
    throw inputError(message('imports.neither', { file: path }), message('imports.nameFile'))
  const encoding = utf16 ? 'utf16le' : 'utf8'
  if (isSourcePage(Buffer.from(start).toString(encoding)))
    return readSourceCsv(path, encoding, size, mtime)
  const chunks = createReadStream(path, { encoding, highWaterMark: 2 ** 18 })
  const { launches, take } = collector()
  const { page, total, messages, notes } = await readNcuCsv(chunks, take)
  return {
    format: page === 'raw' ? 'raw-csv' : 'details-csv',
    launches,
    total,
    restMs: null,
    ncuVersion: null,
    createdAt: mtime,
    commandLine: null,
    codeOf: ({ kernelName, rules }) =>
      rules === undefined
        ? null
        : {
            kernel: { name: kernelName, instructions: [], lines: [], opcodes: null, rules },
            sources: [],
            unknown: [],
          },
    notes: [
      ...notes,
      ...messages
        .filter(({ level }) => level !== 'info')
        .map(({ level, text }) =>
          message(level === 'error' ? 'imports.ncuError' : 'imports.ncuWarning', { text }),
        )
        .slice(0, 20),
    ],
  }
}

const rangesOf = ({ ranges }: ReportLaunch): Pick<ProfiledKernel, 'range' | 'ranges'> => ({
  ...(ranges.length > 0 ? { range: ranges.at(-1)! } : {}),
  ...(ranges.length > 1 ? { ranges } : {}),
})

export interface LaunchesProfile {
  profile: Profile
  profiledTime?: ProfiledTime
  metrics: Record<string, MetricValue>
  /**
   * All metrics by their ncu names, if the range has a single launch. If there are several kernels,
   * each kernel has separate metrics.
   */
  ncuMetrics?: NcuMetrics
}

export function profileLaunches(
  launches: readonly ReportLaunch[],
  level: ProfileLevel,
  instructions: readonly Instruction[],
): LaunchesProfile {
  const only = launches.length === 1 ? launches[0] : undefined
  const times = launches.map(launchMs)
  // If a range has several kernels, only their total time is meaningful.
  const time = times.every((ms) => ms !== null)
    ? profiledTime([times.reduce((sum, ms) => sum + ms, 0)])
    : undefined
  return {
    profile: {
      passes: Math.max(0, ...launches.map(({ passes }) => passes ?? 0)),
      kernels: launches.map((launch) => {
        const { kernelName, grid, block, passes, metrics } = launch
        const resources = launchResources(launch)
        return {
          name: kernelName,
          grid,
          block,
          passes,
          ...rangesOf(launch),
          ...(resources ? { resources } : {}),
          ...(only ? {} : { ncuMetrics: metrics }),
        }
      }),
    },
    ...(time ? { profiledTime: time } : {}),
    metrics: toMetrics(launches, level, undefined, instructions),
    ...(only ? { ncuMetrics: only.metrics } : {}),
  }
}

export type { ReadReport }
