/** Reads real tool output from test/captures: calls with their argv, and rows of packed files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliDecompressSync, brotliCompressSync, constants } from 'node:zlib'
import { readSession } from '../src-main/adapters/sessions/session-store'
import type { Session } from '../src-main/domain/session/session'
import { parseNcuRawCsv } from '../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../src-main/parsers/ncu/ncu-metrics'
import { metricsAsked } from './support'

const root = join(import.meta.dirname, 'captures')

interface Call {
  argv: string
  /** The compiled sources by file name. */
  sources?: Record<string, string>
  exit?: number
  stdout: string
  stderr?: string
  /** The content of the log file. */
  log?: string
  /** The content of the saved output file. */
  saved?: string
}

let calls: Record<string, Record<string, Call>> | undefined

/**
 * Returns the captured calls of a tool from `calls.json`, such as `captures('ncu/2025.3.1-h200')`.
 */
export function captures(tool: string): Record<string, Call> {
  calls ??= JSON.parse(readFileSync(join(root, 'calls.json'), 'utf8')) as typeof calls
  const of = calls?.[tool]
  if (!of) throw new Error(`test/captures/calls.json has no calls of ${tool}.`)
  return of
}

/** Returns one captured call, such as `capture('ncu/2025.3.1-h200/no-kernels')`. */
export function capture(name: string): Call {
  const call = captures(dirname(name))[basename(name)]
  if (!call) throw new Error(`test/captures/calls.json has no ${name}.`)
  return call
}

export const ncuCapture = (name: string): string => capture(`ncu/2025.3.1-h200/${name}`).stdout

export const ncuReportFile = (name: string): string =>
  join(root, 'ncu/2025.3.1-h200', `${name}.ncu-rep`)

/** Folder of ncu captures of whole programs, such as `programs/deep-twelve`. */
const programs = 'ncu/2025.3.1-h200-programs'

export const programCapture = (name: string): Call => capture(`${programs}/${name}`)

/**
 * Folder of ncu captures of ranges, threads and graphs. The captured program has three small
 * kernels and ran on an H100.
 */
const ranges = 'ncu/2025.3.1-h100-ranges'

export const rangesCapture = (name: string): string => capture(`${ranges}/import-${name}`).stdout

/** Returns a report as ncu wrote it. Two folder names were replaced by names of the same length. */
export const rangesReport = (name: string): Uint8Array =>
  new Uint8Array(brotliDecompressSync(readFileSync(join(root, ranges, `${name}.ncu-rep.br`))))

/** Returns an ncu report. Large reports are stored compressed. */
export function ncuReport(name: string): Uint8Array {
  const [, ofPrograms] = /^programs\/(.*)$/.exec(name) ?? []
  const path =
    ofPrograms === undefined ? ncuReportFile(name) : join(root, programs, `${ofPrograms}.ncu-rep`)
  return existsSync(path)
    ? new Uint8Array(readFileSync(path))
    : new Uint8Array(brotliDecompressSync(readFileSync(`${path}.br`)))
}

export function nvccCapture(name: string): string {
  const { stdout, stderr } = capture(`nvcc/13.0.88/${name}`)
  return `${stderr ?? ''}\n${stdout}`
}

// A capture of gemm-fp32 at size 1024 and the standard level. No built-in recording has this level.

/**
 * Returns ncu's counts, the level's metrics at the time of the capture, and the metrics that were
 * requested from ncu.
 */
export function standardMix() {
  const { argv, stdout } = capture('ncu/2025.3.1-h200/standard-mix')
  const metrics = metricsAsked('standard', argv.split(/\s+/))
  const asked: ReadonlySet<string> = new Set(metrics.flatMap(({ ncu }) => ncu[0] ?? []))
  return { launches: parseNcuRawCsv(stdout).launches, metrics, asked }
}

/** Returns a session with recorded times. Its counters are from another run of the same rungs. */
export async function standardSession(): Promise<Session> {
  const { launches, asked } = standardMix()
  const recorded = await readSession(join(root, '../../resources/recordings/gemm-fp32-h200-1024'))
  return {
    ...recorded,
    settings: { ...recorded.settings, profile: 'standard' },
    rungs: recorded.rungs.flatMap((rung) => {
      const own = launches.filter((launch) => launch.rung === rung.id)
      return own.length === 0 ? [] : [{ ...rung, metrics: toMetrics(own, 'standard', asked) }]
    }),
  }
}

// A row of a packed capture file. The file has one JSON line per capture, with a name and
// Brotli-compressed bytes in base64. If the bytes were compiled from source text, `source` may
// contain that text.

interface Row {
  name: string
  source?: string
  brotli: string
  /**
   * ncu's counts per instruction, by kernel: executions, threads, active threads and divergent
   * branches. `argv` contains the calls.
   */
  counted?: Record<string, number[][]>
  argv?: string[]
}

const pathOf = (file: string): string => join(root, file)

/** Returns the rows of `test/captures/<file>`. */
export const packedRows = (file: string): Row[] =>
  existsSync(pathOf(file))
    ? readFileSync(pathOf(file), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Row)
    : []

export function packedRow(file: string, name: string) {
  const row = packedRows(file).find((one) => one.name === name)
  if (!row) throw new Error(`test/captures/${file} has no ${name}.`)
  const bytes = new Uint8Array(brotliDecompressSync(Buffer.from(row.brotli, 'base64')))
  return { bytes, source: row.source ?? '', counted: row.counted ?? {} }
}

/** Adds a row to the file. If the file has a row with the same name, replaces it. */
export function pack(
  file: string,
  name: string,
  bytes: string | Uint8Array,
  source?: string,
): void {
  // Use the largest Brotli window, because repetitions may be far apart.
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
  const brotli = brotliCompressSync(bytes, { params }).toString('base64')
  const rows = packedRows(file).filter((row) => row.name !== name)
  rows.push({ name, ...(source === undefined ? {} : { source }), brotli })
  rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  writeFileSync(pathOf(file), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
