/** Cells of ncu's tables: numbers as its locale prints them, and units converted to ncu's base units. */
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

// Cells of ncu's tables: numbers with thousands separators, and units converted to ncu's base units (ns, byte, hz,
// plain counts), so that output with `--print-units auto` reads like that with `base`. ncu's prefixes are decimal:
// 1 Kbyte is 1000 byte.

/** A column of figures. */
export interface MetricColumn {
  at: number
  name: string
  unit: string
  /** Factor to the base unit. */
  factor: number
  /** It has a unit, so its cells are certain to be figures. */
  measured: boolean
}

/** The positions of a table's columns, determined once for all rows. */
export interface Columns {
  count: number
  id: number
  process: number
  kernel: number
  block: number
  grid: number
  device: number
  capability: number
  ranges: number
  metrics: readonly MetricColumn[]
}

/** Reads a cell according to the table's locale. */
export type ReadCell = (cell: string, column: MetricColumn) => number | string | null

/** What ncu writes if it has no figure. Not collected is not zero. */
const missing = /^(\(!\)\s*)?(n\/a|[-+]?nan|[-+]?inf(inity)?|no data|[-–—]+)?$/i
const number = /^[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][-+]?\d+)?$/

/** Powers of ten that are exact in a double. */
export const tens = Array.from({ length: 16 }, (_, power) => 10 ** power)

/**
 * At most 15 digits with at most one point: the same value as Number(); NaN for any other text. Most cells have
 * this form, and a table has millions of them.
 */
export function plainNumber(cell: string): number {
  const { length } = cell
  const negative = cell.charCodeAt(0) === 45
  let value = 0
  let point = -1
  let at = negative ? 1 : 0
  const first = at
  if (length - first > 16 || length === first) return NaN
  for (; at < length; at += 1) {
    const digit = cell.charCodeAt(at) - 48
    if (digit >= 0 && digit <= 9) value = value * 10 + digit
    else if (digit === -2 && point < 0) point = at
    else return NaN
  }
  const decimals = point < 0 ? 0 : length - point - 1
  const digits = length - first - (point < 0 ? 0 : 1)
  if (digits > 15 || digits === decimals || point === length - 1) return NaN
  // Both are exact, so the quotient is the nearest double.
  if (decimals > 0) value /= tens[decimals]!
  return negative ? -value : value
}

/** A cell's figure; null if ncu had none; the text itself if the metric is textual. */
export function parseNcuCell(cell: string): number | string | null {
  const plain = plainNumber(cell)
  if (!Number.isNaN(plain)) return plain
  const text = cell.trim()
  if (missing.test(text)) return null
  if (!number.test(text)) return text
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}

/** `8,16` or `1.234,5`: ncu used a locale with a decimal comma. */
export const hasDecimalComma = (cell: string): boolean =>
  /^[-+]?\d{1,3}(\.\d{3})*,\d+$/.test(cell.trim()) && !number.test(cell.trim())

export interface BaseUnit {
  unit: string
  /** The factor for values in the given unit. */
  factor: number
}

const nanoseconds: Record<string, number> = {
  ns: 1,
  nsecond: 1,
  us: 1e3,
  usecond: 1e3,
  ms: 1e6,
  msecond: 1e6,
  s: 1e9,
  second: 1e9,
}
const prefixes: Record<string, number> = { K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 }

function counted(unit: string): BaseUnit {
  const [, prefix, rest] = /^([KMGTP])([a-z]+)$/.exec(unit) ?? []
  return prefix && rest ? { unit: rest, factor: prefixes[prefix]! } : { unit, factor: 1 }
}

const ownValue = (table: Record<string, number>, key: string): number | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/** `Kbyte/block` → byte/block and 1000; `usecond` → ns and 1000; `cycle/nsecond` → cycle/s and 1e9. */
export function toBaseUnit(text: string): BaseUnit {
  const [top = '', ...rest] = text.trim().split('/')
  const below = rest.join('/')
  const time = ownValue(nanoseconds, top)
  const numerator = time === undefined ? counted(top) : { unit: 'ns', factor: time }
  if (below === '') return numerator
  const belowTime = ownValue(nanoseconds, below)
  if (belowTime !== undefined)
    return { unit: `${numerator.unit}/s`, factor: (numerator.factor * 1e9) / belowTime }
  const denominator = counted(below)
  return {
    unit: `${numerator.unit}/${denominator.unit}`,
    // Of percent in a byte, ncu scales the figure as if the prefix stood above the line: 24400 %/byte is printed as
    // 24.4 %/Kbyte.
    factor: numerator.unit === '%' ? denominator.factor : numerator.factor / denominator.factor,
  }
}

// ncu prints numbers according to its process locale: `1,234.5`, `1.234,5`, `1 234,5` or `1'234.5`. `1,234` by
// itself is ambiguous, so the first unambiguous figure determines the style of the table, and a figure that
// contradicts it aborts the import: a table that is half misread is worse than none.

const grouped = /^[-+]?\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?:[.,]\d+)?$/
const withComma = /^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][-+]?\d+)?$/
const pointAlone = /^[-+]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?!\d{3}$)\d+)$/

const ungrouped = (cell: string): string =>
  grouped.test(cell) ? cell.replaceAll(/(?<=\d)[ \u00a0\u2009\u202f'’](?=\d)/g, '') : cell

export class NumberStyle {
  #decimal: '.' | ',' | null = null
  /** Whether this row, or an earlier one, has a comma or point from before the style was determined. */
  #unsettled = false
  #guessed = false

  /** Whether the decimal separator is a point. */
  get hasPoint(): boolean {
    return this.#decimal === '.'
  }

  /** Looks for a figure that determines the style; only cells in a column with a unit are certain to be figures. */
  look(row: readonly string[], columns: Columns): void {
    if (this.#decimal !== null) return
    for (const { at, name, measured } of columns.metrics)
      if (measured) this.#lookAt(ungrouped(row[at] ?? ''), name)
  }

  /** Reads a cell of a row that was passed to `look`. */
  readonly read: ReadCell = (cell, { name, measured }) => {
    const plain = this.#decimal === ',' ? NaN : plainNumber(cell)
    if (!Number.isNaN(plain)) return plain
    const text = ungrouped(cell)
    if (measured) this.#lookAt(text, name)
    return parseNcuCell(
      this.#decimal === ',' && withComma.test(text)
        ? text.replaceAll('.', '').replace(',', '.')
        : text,
    )
  }

  #lookAt(cell: string, column: string): void {
    if (!/[.,]/.test(cell)) return
    const found = hasDecimalComma(cell) ? ',' : pointAlone.test(cell) ? '.' : null
    if (found === null) {
      if (this.#decimal === null) this.#unsettled = true
      return
    }
    if (this.#decimal === found) return
    if (this.#decimal !== null || (found === ',' && this.#guessed))
      throw inputError(
        message('imports.mixedDecimals', { column, value: cell }),
        message('imports.printPlain'),
      )
    this.#decimal = found
  }

  /** Marks a row as done: its figures can no longer be reinterpreted. */
  rowDone(): void {
    this.#guessed ||= this.#decimal === null && this.#unsettled
  }
}
