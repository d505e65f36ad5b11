/** Number formats of the UI. domain/metrics/units.ts has the formats shared by all outputs. */
import { numberOfId } from '../../src-main/domain/ladder/rung'
import {
  named,
  optionsLabel,
  problemLabel,
  type Problem,
  type Scalars,
} from '../../src-main/domain/task/problem'
import {
  formatCount,
  formatValue,
  withDecimals,
  type Unit,
} from '../../src-main/domain/metrics/units'
import { language } from './language'
import { wordsAt } from './words'

const countUnits: readonly Unit[] = ['inst', 'wavefronts', 'conflicts']
const isCountUnit = (unit: Unit) => countUnits.includes(unit)

/**
 * Returns a value with its unit in the UI language, such as `3.88 waves` or `34.0 M wavefronts`. A
 * string without a translatable unit is returned unchanged.
 */
export const unitInLanguage = (text: string): string =>
  text.replace(
    /(?<=\d(?: [a-zA-Z])? )([a-z]+)(?:\/inst)?$/,
    (label, unit: string) => wordsAt(`unit.${unit}`) ?? label,
  )

/** Formats a value and its unit: `134 M inst`, `93.8 %`, `2.70 ms`. */
export const figureText = (value: number, unit: Unit): string =>
  unitInLanguage(
    isCountUnit(unit) ? `${formatValue(value, unit)} ${unit}` : formatValue(value, unit),
  )

/** Formats a value for a column whose header states the unit: `134 M`, `93.8`, `198`. */
export function bareFigure(value: number, unit: Unit): string {
  if (isCountUnit(unit)) return formatCount(value)
  if (unit === '%') return withDecimals(value, 1)
  // Distinguishing 4 sectors from 3.99 sectors takes two decimals.
  if (unit === 'waves' || unit === 'sectors' || unit === 'warps') return withDecimals(value, 2)
  if (unit === 'registers') return String(Math.round(value))
  return formatValue(value, unit)
}

const minus = '−'
const signed = (value: number, text: string) =>
  value > 0 ? `+${text}` : value < 0 ? `${minus}${text}` : text

/**
 * Formats a signed difference for a row that states the unit. Differences of percentages are in
 * percentage points.
 */
export function bareDelta(delta: number, unit: Unit): string {
  const size = Math.abs(delta)
  if (unit === '%') {
    if (size > 0 && size < 0.0005) return unitInLanguage('< 0.001 pp')
    return signed(delta, unitInLanguage(`${withDecimals(size, 1)} pp`))
  }
  return signed(delta, bareFigure(size, unit))
}

/** Formats the ratio b / a with a multiplication sign: `×0.25`, `×12.3`. */
export function factorText(ratio: number): string {
  if (ratio >= 1000) return `×${formatCount(ratio)}`
  if (ratio === 0) return '×0'
  const digits = ratio >= 100 ? 0 : ratio >= 10 ? 1 : ratio >= 0.1 ? 2 : ratio >= 0.001 ? 4 : 6
  return `×${withDecimals(ratio, digits)}`
}

/**
 * Formats a relative spread: 0.0031 → `0.31 %`. A spread too small for two decimals is not rounded
 * to zero.
 */
export const spreadText = (spread: number): string => `${withDecimals(spread * 100, 2)} %`

/** Formats half of the interquartile range, relative to the median, with a ± sign. */
export const plusMinus = (spread: number): string => `±${spreadText(spread / 2)}`

/**
 * Formats a time with enough digits to distinguish samples of one kernel: 3.41181 → `3.4118 ms`.
 */
export const preciseMs = (ms: number): string => `${ms.toPrecision(5)} ms`

/**
 * Returns the number of decimals that gives the smallest value of a column three significant
 * digits.
 */
export function columnDecimals(values: readonly number[]): number {
  const smallest = Math.min(...values.filter((value) => value > 0))
  if (!Number.isFinite(smallest)) return 0
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(smallest))))
}

const grouped = new Map<number, Intl.NumberFormat>()

/** Formats a number with thousands separators and a fixed number of decimals. */
export function fixed(value: number, decimals = 0): string {
  let format = grouped.get(decimals)
  if (!format) {
    format = new Intl.NumberFormat('en-US', {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    })
    grouped.set(decimals, format)
  }
  return format.format(value)
}

const dateStyles = { en: 'en-GB', ko: 'ko-KR', 'zh-CN': 'zh-CN' } as const

/** Formats a date in the current language. */
export function formatDate(iso: string, timeZone?: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  return new Intl.DateTimeFormat(dateStyles[language.value], {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone,
  }).format(date)
}

/**
 * Returns the problem's label, such as `4096³ FP32`. Scalars that differ from the task's defaults
 * are appended: `4096³ FP32, beta 1`.
 */
export const problemText = (problem: Problem, unusual: Scalars = {}): string =>
  [`${problemLabel(problem)} ${optionsLabel(problem)}`.trimEnd(), named(unusual)]
    .filter(Boolean)
    .join(', ')

/**
 * Returns the number at the start of a rung's id (`05_thread_tile_2d` → `05`), or the rung's
 * position if the id has no number.
 */
export const rungNumber = (id: string, index: number): string =>
  numberOfId(id) ?? String(index).padStart(2, '0')

/** Returns the numbers of a ladder's rungs. Repeated numbers get a letter: `05`, `05b`. */
export function rungNumbers(rungs: readonly { id: string }[]): string[] {
  const seen = new Map<string, number>()
  return rungs.map(({ id }, index) => {
    const own = rungNumber(id, index)
    const times = (seen.get(own) ?? 0) + 1
    seen.set(own, times)
    if (times === 1) return own
    return times <= 26 ? own + String.fromCharCode(96 + times) : `${own}.${times}`
  })
}

/** Returns the last component of a path, for places that are too narrow for the whole path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
