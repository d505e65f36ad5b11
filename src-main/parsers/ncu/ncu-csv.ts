/**
 * Parses the output of `ncu --csv --page raw`: a header row, a units row, and one row per launch.
 *
 * Between rows, there can be ncu messages (`==PROF==`, `==WARNING==`) and output from the profiled
 * program. ncu prints the same text with `-o`, without `-o`, and with `--import`.
 *
 * Values are returned in ncu's base units. A cell without a value becomes null, never 0. A
 * truncated row is skipped and noted. A table with decimal commas is rejected, because half of its
 * numbers could be misread.
 */
import { parse } from 'csv-parse/sync'
import { message, type Statement } from '../../domain/messages/message'
import type { Rule } from '../../domain/session/deep'
import { inputError } from '../../domain/errors'
import { ncuMessages, type NcuMessage } from './ncu-failure'
import {
  isNotFinite,
  hasDecimalComma,
  parseNcuCell,
  type Columns,
  type MetricColumn,
  type ReadCell,
} from './ncu-values'
import { toBaseUnit } from './ncu-base-units'

export { ncuMessages, recognizeNcuFailure, unknownMetrics } from './ncu-failure'
export type { NcuFailure, NcuFailureKind, NcuMessage } from './ncu-failure'

export interface NcuValue {
  /** The metric's value, or null if ncu reported no value for this launch. */
  value: number | string | null
  /** The NaN or infinity that ncu reported in place of a value. */
  reported?: string
  /** ncu's base unit: `ns`, `byte`, `inst`, `%`, or empty. */
  unit: string
}

export type Extent = [number, number, number]

export interface NcuLaunch {
  id: number
  processId: number | null
  kernelName: string
  /** Innermost push/pop range in NVTX's default domain, or null outside any range. */
  rung: string | null
  /**
   * All ranges in NVTX's default domain that contain the launch, outermost first. Includes push/pop
   * and start/end ranges.
   */
  ranges: string[]
  /** Grid size. Null in tables from older ncu versions, which have a time column instead. */
  grid: Extent | null
  block: Extent | null
  /** Number of replay passes that collected the metrics. */
  passes: number | null
  device: number | null
  computeCapability: string | null
  /** Metric values by ncu metric name. */
  metrics: Record<string, NcuValue>
  /** Advice from ncu, if the page contains any. */
  rules?: Rule[]
}

interface NcuReport {
  launches: NcuLaunch[]
  /** ncu's messages, in output order. */
  messages: NcuMessage[]
  /** Messages about unreadable parts of the table. */
  notes: Statement[]
}

const headerStart = '"ID","Process ID"'
const descriptive = new Set([
  'ID',
  'Process ID',
  'Process Name',
  'Host Name',
  'Kernel Name',
  'Kernel Time',
  'Context',
  'Stream',
  'Block Size',
  'Grid Size',
  'Device',
  'CC',
])
const isRange = (column: string): boolean => /Domain:(Push\/Pop|Start\/Stop)_Range:/.test(column)

/** Whether a row is complete, which means that every quote is closed. */
export const isWhole = (line: string): boolean =>
  line.endsWith('"') && (line.match(/"/g)?.length ?? 0) % 2 === 0

/** Returns the CSV table's lines, starting with the header and excluding the program's output. */
function tableLines(text: string, notes: Statement[]): string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const first = lines.findIndex((line) => line.includes(headerStart))
  if (first < 0) return []
  const header = lines[first]!
  const rows = [header.slice(header.indexOf(headerStart)), ...lines.slice(first + 1)].filter(
    (line) => line.startsWith('"'),
  )
  return rows.filter((line, index) => {
    if (isWhole(line)) return true
    notes.push(
      index === 0
        ? message('imports.headerCut')
        : message('imports.rowCut', { text: JSON.stringify(line.slice(0, 40)) }),
    )
    return false
  })
}

/**
 * Returns the ranges listed in a cell, outermost first.
 *
 * `466 "<default domain>:03_a:none:…"` is a range of the thread that launched the kernel.
 * `"0:<default domain>:…"` is a start/end range, which begins with its number. Libraries use NVTX
 * domains other than the default domain. ncu does not escape quotes in names.
 */
function rangesIn(cell: string | undefined): string[] {
  const domain = '<default domain>:'
  return [...(cell ?? '').matchAll(/"(?:\d+:)?(<default domain>:.*?(?::[^:"]*){6})"(?=\s|$)/g)]
    .map(([, range = '']) => range)
    .map((range) => range.slice(domain.length).split(':').slice(0, -6).join(':'))
    .filter((name) => name !== '')
}

/**
 * Whether a count is a safe integer. A number with 400 digits would become Infinity, which a
 * session cannot store.
 */
const isExtent = (count: number | undefined): count is number => Number.isSafeInteger(count)

function parseExtent(cell: string): Extent | null {
  const [x, y, z] = cell.match(/\d+/g)?.map(Number) ?? []
  return isExtent(x) && isExtent(y) && isExtent(z) ? [x, y, z] : null
}

const asNumber = (cell: string | undefined): number | null => {
  const value = parseNcuCell(cell ?? '')
  return typeof value === 'number' ? value : null
}

/** Columns that every launch row must have. */
const needed = ['ID', 'Kernel Name']

/**
 * Returns the reason that a table with this header has no launches. Returns null if all needed
 * columns are present.
 */
export function missingColumns(header: readonly string[]): string | null {
  const missing = needed.filter((column) => !header.includes(column))
  return missing.length === 0
    ? null
    : `ncu's table has no column ${missing.map((column) => JSON.stringify(column)).join(', ')}; print the complete raw page.`
}

/**
 * Returns the table's columns. `units` is the row below the header, or empty if there is no such
 * row.
 */
export function columnsOf(header: readonly string[], units: readonly string[]): Columns {
  const metrics = header.flatMap((name, at): MetricColumn[] => {
    if (descriptive.has(name) || isRange(name)) return []
    const text = units[at] ?? ''
    return [{ at, name, ...toBaseUnit(text), measured: text !== '' }]
  })
  return {
    count: header.length,
    id: header.indexOf('ID'),
    process: header.indexOf('Process ID'),
    kernel: header.indexOf('Kernel Name'),
    block: header.indexOf('Block Size'),
    grid: header.indexOf('Grid Size'),
    device: header.indexOf('Device'),
    capability: header.indexOf('CC'),
    pushed: header.findIndex((column) => column.includes('Push/Pop_Range')),
    started: header.findIndex((column) => column.includes('Start/Stop_Range')),
    metrics,
  }
}

/**
 * Parses a cell that ncu printed under LC_ALL=C. When this program runs ncu, it always sets
 * LC_ALL=C.
 */
const readPlain: ReadCell = (cell, { name, measured }) => {
  if (measured && hasDecimalComma(cell))
    throw inputError(
      message('imports.decimalComma', { column: name, value: cell }),
      message('imports.runPlain'),
    )
  return parseNcuCell(cell)
}

/**
 * Converts a row to a launch. If the row is not a launch, returns null and adds a note. A value in
 * `numbers` takes precedence over the cell's text.
 */
export function parseLaunch(
  columns: Columns,
  row: readonly string[],
  notes: Statement[],
  read: ReadCell = readPlain,
  numbers?: Float64Array,
): NcuLaunch | null {
  const cell = (at: number): string => row[at] ?? ''
  const id = asNumber(cell(columns.id))
  const grid = parseExtent(cell(columns.grid))
  const block = parseExtent(cell(columns.block))
  const shapeless = (columns.grid >= 0 && !grid) || (columns.block >= 0 && !block)
  if (id === null || row.length !== columns.count || shapeless) {
    notes.push(
      message('imports.tableRowUnreadable', { text: JSON.stringify(row.slice(0, 2).join(',')) }),
    )
    return null
  }
  // The object has no prototype, because a column can have any name. Adding thousands of names is
  // also faster without a prototype.
  const metrics = Object.create(null) as Record<string, NcuValue>
  for (const column of columns.metrics) {
    const known = numbers === undefined ? NaN : numbers[column.at]!
    const text = row[column.at] ?? ''
    const value = Number.isNaN(known) ? read(text, column) : known
    const { unit } = column
    if (typeof value === 'number') metrics[column.name] = { value: value * column.factor, unit }
    else if (value === null && isNotFinite(text))
      metrics[column.name] = { value, unit, reported: text.trim() }
    else metrics[column.name] = { value, unit }
  }
  const passes = metrics.profiler__replayer_passes?.value
  const pushed = rangesIn(cell(columns.pushed))
  return {
    id,
    processId: asNumber(cell(columns.process)),
    kernelName: cell(columns.kernel),
    rung: pushed.at(-1) ?? null,
    // The table does not show the order of push/pop ranges relative to start/end ranges. Start/end
    // ranges are usually longer than push/pop ranges.
    ranges: [...rangesIn(cell(columns.started)), ...pushed],
    grid,
    block,
    passes: typeof passes === 'number' ? passes : null,
    device: asNumber(cell(columns.device)),
    computeCapability: cell(columns.capability) || null,
    metrics,
  }
}

/**
 * Returns all launches in ncu's output. If there is no table, returns an empty list, and
 * recognizeNcuFailure explains why.
 */
export function parseNcuRawCsv(text: string): NcuReport {
  const notes: Statement[] = []
  const messages = ncuMessages(text)
  const rows: string[][] = parse(tableLines(text, notes).join('\n'), { relax_column_count: true })
  const [header, ...rest] = rows
  if (!header || header[0] !== 'ID') return { launches: [], messages, notes }
  if (header.includes('Metric Name'))
    throw inputError(message('imports.details'), message('imports.exportRaw'))
  const lacking = missingColumns(header)
  if (lacking !== null) return { launches: [], messages, notes: [...notes, lacking] }
  const hasUnits = rest[0]?.[0] === ''
  const columns = columnsOf(header, hasUnits ? rest[0]! : [])
  const launches = rest
    .slice(hasUnits ? 1 : 0)
    .map((row) => parseLaunch(columns, row, notes))
    .filter((launch) => launch !== null)
  return { launches, messages, notes }
}
