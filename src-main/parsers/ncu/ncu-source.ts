/**
 * Parses the output of `ncu --page source --csv`, with `--print-source sass` or `cuda,sass`. The
 * page has counters per instruction and, if it includes the source, per line.
 *
 * The SASS view has one section per kernel. A section begins with `"Kernel Name","…",` (including
 * the final comma) and a header. One row per instruction follows the header.
 *
 * The source view has one section per kernel and file. A section begins with `"File Path",…`,
 * `"Function Name",…` and a header. The row of each line is followed by the line's instructions.
 * `...` separates instructions that are far apart.
 *
 * In the source view, ncu 2025.3 prints a line's instructions twice. Inlined code from another file
 * often appears in both files' sections. Therefore, an address is counted only once per line.
 */
import { parse } from 'csv-parse/sync'
import { message, type Statement } from '../../domain/messages/message'
import type { StallSamples, Work } from '../../domain/session/deep'
import { isWhole, type NcuLaunch } from './ncu-csv'
import { parseNcuCell } from './ncu-values'

export interface SassRow extends Work {
  address: number
  text: string
  line: number | null
}

interface LineRow extends Work {
  line: number
  text: string
}

export interface SourceSection {
  /** The path that the compiler recorded, or null in the SASS view. */
  file: string | null
  kernelName: string
  /**
   * The section's rows, parsed on first use. A page contains every kernel's rows, but often only
   * one kernel is needed.
   */
  readonly instructions: SassRow[]
  readonly lines: LineRow[]
  /** Number of unreadable rows. */
  readonly unreadable: number
  readonly stallSamples: StallSamples | null
}

export interface SourcePage {
  sections: SourceSection[]
  /** Number of truncated rows. */
  unreadable: number
}

/** Returns a note that some rows on the page are unreadable. */
export const unreadableNotes = (count: number): Statement[] =>
  count === 0 ? [] : [message('deep.rowsUnreadable', { count })]

/**
 * Possible column names for each counter. The first name that appears in the header is used. Names
 * from ncu 2025.3 come before names from older versions.
 */
const columnsOf: Record<Exclude<keyof Work, 'stalls'>, readonly string[]> = {
  executed: ['Instructions Executed'],
  threadExecuted: ['Thread Instructions Executed'],
  samples: ['Warp Stall Sampling (All Samples)', 'Warp Stall Sampling (All Cycles)', '# Samples'],
  notIssuedSamples: [
    'Warp Stall Sampling (Not-issued Samples)',
    'Warp Stall Sampling (Not-issued Cycles)',
  ],
  sharedWavefronts: ['L1 Wavefronts Shared'],
  sharedWavefrontsIdeal: ['L1 Wavefronts Shared Ideal'],
  sharedWavefrontsExcess: ['L1 Wavefronts Shared Excessive'],
  globalL1Requests: ['L1 Tag Requests Global'],
  globalL2Sectors: ['L2 Theoretical Sectors Global'],
  globalL2SectorsIdeal: ['L2 Theoretical Sectors Global Ideal'],
  globalL2SectorsExcess: ['L2 Theoretical Sectors Global Excessive'],
}

const notIssued = '_not_issued'

interface Layout {
  width: number
  address: number
  sass: number
  /** Line number, or -1 in the SASS view. */
  line: number
  source: number
  figures: [keyof typeof columnsOf, number][]
  stalls: [string, number][]
  stallSamples: StallSamples | null
}

function layoutOf(header: readonly string[]): Layout | null {
  const address = header.indexOf('Address')
  const sass = header.indexOf('Source', address)
  if (address < 0 || sass < 0) return null
  const line = header.indexOf('Line No')
  const reasons = header.filter((name) => name.startsWith('stall_'))
  const isSampled = reasons.length > 0
  // This parser was not tested with a page from ncu 2025.4, whose columns are assumed to have the
  // same names as the metrics.
  const ofNotIssued = isSampled && reasons.every((name) => name.endsWith(notIssued))
  return {
    width: header.length,
    address,
    sass,
    line,
    source: line < 0 ? -1 : header.indexOf('Source'),
    figures: Object.entries(columnsOf).map(([key, names]) => [
      key as keyof typeof columnsOf,
      names.map((name) => header.indexOf(name)).find((at) => at >= 0) ?? -1,
    ]),
    stalls: header.flatMap((name, at): [string, number][] => {
      const reason = /^stall_(\w+?)(?:_not_issued)?$/.exec(name)?.[1]
      return reason && name.endsWith(notIssued) === ofNotIssued ? [[reason, at]] : []
    }),
    stallSamples: isSampled ? (ofNotIssued ? 'notIssued' : 'all') : null,
  }
}

const countIn = (row: readonly string[], at: number): number | null => {
  const value = at < 0 ? null : parseNcuCell(row[at] ?? '')
  return typeof value === 'number' && value >= 0 ? value : null
}

function workOf(row: readonly string[], { figures, stalls }: Layout): Work {
  const counts = Object.fromEntries(figures.map(([key, at]) => [key, countIn(row, at)])) as Omit<
    Work,
    'stalls'
  >
  const samples = stalls.map(([reason, at]) => [reason, countIn(row, at)] as const)
  return {
    ...counts,
    stalls: samples.some(([, value]) => value !== null)
      ? Object.fromEntries(
          samples.filter((entry): entry is [string, number] => entry[1] !== null && entry[1] > 0),
        )
      : null,
  }
}

/** Returns the rows in ncu's tables, without the ncu messages between rows. */
const tableRows = (text: string): string[] =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.startsWith('"'))
    .map((line) => (line.endsWith('",') ? line.slice(0, -1) : line))

/**
 * Replaces doubled quotes with single ones if every quote in the cell is doubled, as in CSV.
 * Otherwise, returns the cell unchanged.
 */
const undoubled = (cell: string): string =>
  (cell.match(/"+/g) ?? []).every((run) => run.length % 2 === 0) ? cell.replaceAll('""', '"') : cell

/**
 * Splits a row into cells.
 *
 * ncu puts every cell in quotes but does not escape quotes in a source line (`asm("…")`). CSV
 * parsers reject a row with unescaped quotes. This function splits the row at its separators if
 * that yields as many cells as the table has columns.
 */
function cellsOf(line: string, width: number | undefined): string[] {
  const inner = line.slice(1, -1)
  const cells = inner.split('","')
  if (!cells.some((cell) => cell.includes('"'))) return cells
  if (cells.length === width) return cells.map(undoubled)
  const [row = []]: string[][] = parse(line, { relax_column_count: true, relax_quotes: true })
  return row
}

interface Rows {
  instructions: SassRow[]
  lines: LineRow[]
  unreadable: number
  stallSamples: StallSamples | null
}

/** Parses the rows below a section's labels. The first row is the header. */
function readRows([header, ...printed]: readonly string[]): Rows {
  const rows: Rows = { instructions: [], lines: [], unreadable: 0, stallSamples: null }
  const layout = header === undefined ? null : layoutOf(cellsOf(header, undefined))
  if (!layout) return rows
  rows.stallSamples = layout.stallSamples
  let sourceLine: number | null = null
  const seen = new Set<string>()
  for (const line of printed) {
    const row = cellsOf(line, layout.width)
    if (row.length !== layout.width) {
      rows.unreadable += 1
      continue
    }
    const number = layout.line < 0 ? null : countIn(row, layout.line)
    if (number !== null) {
      sourceLine = number
      rows.lines.push({ line: number, text: row[layout.source] ?? '', ...workOf(row, layout) })
      continue
    }
    const address = row[layout.address] ?? ''
    if (!/^(0x)?[0-9a-f]+$/i.test(address)) continue
    const at = Number.parseInt(address, 16)
    const place = `${at}:${sourceLine}`
    if (seen.has(place)) continue
    seen.add(place)
    rows.instructions.push({
      address: at,
      text: row[layout.sass] ?? '',
      line: sourceLine,
      ...workOf(row, layout),
    })
  }
  return rows
}

function sectionOf(
  file: string | null,
  kernelName: string,
  printed: readonly string[],
): SourceSection {
  let rows: Rows | undefined
  const read = (): Rows => (rows ??= readRows(printed))
  return {
    file,
    kernelName,
    get instructions() {
      return read().instructions
    },
    get lines() {
      return read().lines
    },
    get stallSamples() {
      return read().stallSamples
    },
    get unreadable() {
      return read().unreadable
    },
  }
}

/**
 * Returns the label in a row of two or three cells. The label names the file or function to which
 * the following rows belong.
 */
function labelIn(line: string): { isFile: boolean; value: string } | null {
  if (!/^"(File Path|Function Name|Kernel Name)","/.test(line)) return null
  const [label, value = '', ...more] = cellsOf(line, undefined)
  const isFile = label === 'File Path'
  return more.length > (isFile ? 0 : 1) ? null : { isFile, value }
}

export function parseSourcePage(text: string): SourcePage {
  const sections: SourceSection[] = []
  const printed = tableRows(text)
  const whole = printed.filter(isWhole)
  let file: string | null = null
  let rows: string[] | null = null
  for (const line of whole) {
    const label = labelIn(line)
    if (label?.isFile) file = label.value
    else if (label) {
      rows = []
      sections.push(sectionOf(file, label.value, rows))
      file = null
    } else rows?.push(line)
  }
  return { sections, unreadable: printed.length - whole.length }
}

/** Whether ncu's output begins with a source page, possibly after ncu messages. */
export const isSourcePage = (start: string): boolean =>
  /^\uFEFF?(?:[^"].*\r?\n|\r?\n)*"(?:File Path|Kernel Name|Function Name)","/.test(start)

/** Returns one launch per kernel on the page, with only the kernel's name. */
export function sourcePageLaunches({ sections }: SourcePage): NcuLaunch[] {
  const launches: NcuLaunch[] = []
  let files: (string | null)[] = []
  for (const { kernelName, file } of sections) {
    const goesOn =
      launches.at(-1)?.kernelName === kernelName && file !== null && !files.includes(file)
    if (!goesOn) {
      files = []
      launches.push({
        id: launches.length,
        processId: null,
        kernelName,
        rung: null,
        ranges: [],
        grid: null,
        block: null,
        passes: null,
        device: null,
        computeCapability: null,
        metrics: {},
      })
    }
    files.push(file)
  }
  return launches
}
