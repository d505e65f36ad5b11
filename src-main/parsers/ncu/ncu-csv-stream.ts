/**
 * Parses ncu CSV files of any size by streaming them.
 *
 * The raw page has one row per launch. The details page has one row per metric or piece of advice.
 * The receiver gets each launch as soon as it is complete, and no launch is stored. After the
 * receiver stops, rows are only counted. Log lines may occur before, between, and after the rows.
 */
import { columnsOf, missingColumns, parseLaunch, type NcuLaunch } from './ncu-csv'
import { type Columns } from './ncu-values'
import { message, type Statement } from '../../domain/messages/message'
import { inputError } from '../../domain/errors'
import { DetailsPage, isDetailsHeader } from './ncu-details'
import { ncuMessages, type NcuMessage } from './ncu-failure'
import { QuotedRow } from './quoted-row'
import { NumberStyle } from './ncu-number-style'

/** Receives a launch. Returns false to stop receiving launches. */
export type TakeLaunch = (launch: NcuLaunch) => boolean

export interface NcuCsv {
  page: 'raw' | 'details'
  /** Number of launches, including launches that were only counted. */
  total: number
  /** ncu's messages before, between, and after the rows. Only the first messages are stored. */
  messages: NcuMessage[]
  notes: Statement[]
}

/** Maximum line length in bytes. The longest known row in a raw page is 0.2 MB long. */
const maxLine = 32 * 2 ** 20
const maxNotes = 20
const maxLogLines = 200
const header = /"ID"([,;\t])"Process ID"|^ID([,;\t])Process ID\b/

/** Splits text into lines. Only the current line is buffered. */
class Lines {
  #rest = ''
  /**
   * `ended` is true if the line ends with a line break. A line without a line break may be
   * truncated.
   */
  constructor(readonly onLine: (line: string, ended: boolean) => void) {}

  push(text: string): void {
    const end = text.lastIndexOf('\n')
    if (end < 0) {
      this.#rest += text
      if (this.#rest.length > maxLine)
        throw inputError(
          message('imports.longLine', { size: maxLine / 2 ** 20 }),
          message('imports.printRaw'),
        )
      return
    }
    let at = 0
    for (let next = text.indexOf('\n'); next >= 0; next = text.indexOf('\n', at)) {
      const line = at === 0 ? this.#rest + text.slice(0, next) : text.slice(at, next)
      this.onLine(line.endsWith('\r') ? line.slice(0, -1) : line, true)
      at = next + 1
    }
    this.#rest = text.slice(at)
  }

  end(): void {
    if (this.#rest !== '') this.onLine(this.#rest, false)
    this.#rest = ''
  }
}

/**
 * Splits a line into quoted or unquoted cells. Returns an empty list if a quote is unclosed or
 * followed by other text.
 */
function splitCells(line: string, delimiter: string): string[] {
  const cells: string[] = []
  for (let at = 0; ; at += 1) {
    if (line[at] === '"') {
      let end = line.indexOf('"', at + 1)
      while (end >= 0 && line[end + 1] === '"') end = line.indexOf('"', end + 2)
      if (end < 0) return []
      cells.push(line.slice(at + 1, end).replaceAll('""', '"'))
      at = end + 1
    } else {
      const end = line.indexOf(delimiter, at)
      cells.push(end < 0 ? line.slice(at) : line.slice(at, end))
      at = end < 0 ? line.length : end
    }
    if (at >= line.length) return cells
    if (line[at] !== delimiter) return []
  }
}

class Reader {
  readonly result: NcuCsv = { page: 'raw', total: 0, messages: [], notes: [] }
  readonly #style = new NumberStyle()
  readonly #log: string[] = []
  #header: string[] = []
  #columns: Columns | null = null
  #quick: QuotedRow | null = null
  #delimiter = ','
  #quoted = true
  #details: DetailsPage | null = null
  #rows = 0
  #wanted = true

  constructor(readonly take: TakeLaunch) {}

  line(line: string, ended: boolean): void {
    // A new header means that the file contains a second ncu run, possibly with different columns.
    if (this.#details === null && /^"?ID"?[,;\t]/.test(line) && header.test(line)) {
      this.#header = []
      this.#columns = null
      this.#rows = 0
    }
    if (this.#header.length === 0) return this.#beforeTable(line)
    if (this.#quoted ? !line.startsWith('"') : !line.includes(this.#delimiter)) {
      this.#logLine(line)
      return
    }
    if (!this.#wanted) {
      this.result.total += 1
      return
    }
    if (this.#quickRow(line)) return
    const cells = this.#split(line)
    if (!this.#isWhole(cells)) {
      // A line of unquoted text that contains a comma is not a row.
      if (this.#quoted)
        this.#note(message('imports.rowUnreadable', { text: JSON.stringify(line.slice(0, 40)) }))
      return
    }
    if (!this.#quoted && !ended) {
      // If the last line has no quotes, it may be truncated within its last number.
      this.#note(message('imports.lastRow'))
      return
    }
    this.#rows += 1
    if (this.#rows === 1 && cells[0] === '' && this.#details === null) {
      this.#columns = columnsOf(this.#header, cells)
      return
    }
    this.#row(cells)
  }

  end(): NcuCsv {
    if (this.#details !== null) this.result.total = this.#details.end()
    this.result.messages = ncuMessages(this.#log.join('\n'))
    return this.result
  }

  #row(cells: string[]): void {
    if (this.#details !== null) return this.#details.add(cells, this.#style)
    this.#columns ??= columnsOf(this.#header, [])
    this.#style.look(cells, this.#columns)
    this.#launch(parseLaunch(this.#columns, cells, this.result.notes, this.#style.read))
    this.#style.rowDone()
  }

  /**
   * Parses a row with `QuotedRow`, which is faster than the general parser. The first rows must
   * already have determined the columns and the decimal separator.
   */
  #quickRow(line: string): boolean {
    if (!this.#quoted || this.#delimiter !== ',' || !this.#columns || !this.#style.hasPoint)
      return false
    if (this.#quick?.columns !== this.#columns) this.#quick = new QuotedRow(this.#columns)
    const row = this.#quick
    if (!row.read(line)) return false
    this.#launch(
      parseLaunch(row.columns, row.cells, this.result.notes, this.#style.read, row.numbers),
    )
    return true
  }

  #launch(launch: NcuLaunch | null): void {
    if (launch === null) {
      if (this.result.notes.length > maxNotes) this.result.notes.length = maxNotes
      return
    }
    this.result.total += 1
    this.#wanted = this.take(launch)
  }

  #beforeTable(line: string): void {
    const found = header.exec(line)
    if (found === null) return this.#logLine(line)
    this.#quoted = found[1] !== undefined
    this.#delimiter = (found[1] ?? found[2])!
    const cells = this.#split(line.slice(found.index))
    if (this.#quoted && !line.endsWith('"')) return this.#note(message('imports.headerCut'))
    const lacking = missingColumns(cells)
    if (lacking !== null) return this.#note(lacking)
    this.#header = cells
    if (!isDetailsHeader(cells)) return
    this.result.page = 'details'
    this.#details = new DetailsPage(cells, this.take)
  }

  #isWhole({ length }: string[]): boolean {
    return length === this.#header.length || length === this.#details?.metricCells
  }

  #split(line: string): string[] {
    // On the details page, a row with a metric ends with a comma and has no advice columns.
    const text = line.endsWith(this.#delimiter) ? line.slice(0, -1) : line
    if (this.#quoted && text.endsWith('"')) {
      const cells = text.slice(1, -1).split(`"${this.#delimiter}"`)
      // If a delimiter inside quotes was mistaken for the end of a cell, the number of cells is
      // wrong.
      if (this.#isWhole(cells))
        return cells.map((cell) => (cell.includes('""') ? cell.replaceAll('""', '"') : cell))
    }
    return splitCells(this.#quoted ? text : line, this.#delimiter)
  }

  #logLine(line: string): void {
    if (line.startsWith('==') && this.#log.length < maxLogLines) this.#log.push(line)
  }

  #note(note: Statement): void {
    if (this.result.notes.length < maxNotes) this.result.notes.push(note)
  }
}

export async function readNcuCsv(chunks: AsyncIterable<string>, take: TakeLaunch): Promise<NcuCsv> {
  const reader = new Reader(take)
  const lines = new Lines((line, ended) => reader.line(line, ended))
  let first = true
  for await (const chunk of chunks) {
    lines.push(first ? chunk.replace(/^\uFEFF/, '') : chunk)
    first = false
  }
  lines.end()
  return reader.end()
}
