/** Figures as the UI shows them, in addition to domain/metrics/units.ts for all outputs, and scales for bars and their axes. */
import { shallowRef } from 'vue'
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
import { language } from './preferences'

// Number formats for the UI, in addition to those of domain/metrics/units.ts for all outputs.

const countUnits: readonly Unit[] = ['inst', 'wavefronts', 'conflicts']
const isCountUnit = (unit: Unit) => countUnits.includes(unit)

/** Units that are words, by their English; empty in English. */
const unitWords = shallowRef<Readonly<Record<string, string>>>({})
export const nameUnits = (words: Readonly<Record<string, string>>): void => {
  unitWords.value = words
}

/** A figure's text with its unit in the language of the UI: `3.88 waves`, `34.0 M wavefronts`; any other text as it is. */
export const unitInLanguage = (text: string): string =>
  text.replace(/(?<=\d(?: [a-zA-Z])? )[a-z]+$/, (unit) => unitWords.value[unit] ?? unit)

/** A value with its unit: `134 M inst`, `93.8 %`, `2.70 ms`. */
export const figureText = (value: number, unit: Unit): string =>
  unitInLanguage(
    isCountUnit(unit) ? `${formatValue(value, unit)} ${unit}` : formatValue(value, unit),
  )

/** A value for a column whose header has the unit: `134 M`, `93.8`, `198`. */
export function bareFigure(value: number, unit: Unit): string {
  if (isCountUnit(unit)) return formatCount(value)
  if (unit === '%') return withDecimals(value, 1)
  // A ratio: two decimals distinguish 4 sectors from 3.99.
  if (unit === 'waves' || unit === 'sectors' || unit === 'warps') return withDecimals(value, 2)
  if (unit === 'registers') return String(Math.round(value))
  return formatValue(value, unit)
}

const minus = '−'
const signed = (value: number, text: string) =>
  value > 0 ? `+${text}` : value < 0 ? `${minus}${text}` : text

/** A signed difference, in a row that names the unit; percentages differ in percentage points. */
export function bareDelta(delta: number, unit: Unit): string {
  const size = Math.abs(delta)
  if (unit === '%') {
    if (size > 0 && size < 0.0005) return unitInLanguage('< 0.001 pp')
    return signed(delta, unitInLanguage(`${withDecimals(size, 1)} pp`))
  }
  return signed(delta, bareFigure(size, unit))
}

/** b over a, with a multiplication sign: `×0.25`, `×12.3`. */
export function factorText(ratio: number): string {
  if (ratio >= 1000) return `×${formatCount(ratio)}`
  if (ratio === 0) return '×0'
  const digits = ratio >= 100 ? 0 : ratio >= 10 ? 1 : ratio >= 0.1 ? 2 : ratio >= 0.001 ? 4 : 6
  return `×${withDecimals(ratio, digits)}`
}

/** A relative spread: 0.0031 → `0.31 %`; one too small for two decimals does not read as zero. */
export const spreadText = (spread: number): string => `${withDecimals(spread * 100, 2)} %`

/** What ± is everywhere: half the interquartile range, as a share of the median. */
export const plusMinus = (spread: number): string => `±${spreadText(spread / 2)}`

/** A time with enough digits to distinguish samples of one kernel: 3.41181 → `3.4118 ms`. */
export const preciseMs = (ms: number): string => `${ms.toPrecision(5)} ms`

/** Decimals that give the smallest value of a column three significant digits, so that all align. */
export function columnDecimals(values: readonly number[]): number {
  const smallest = Math.min(...values.filter((value) => value > 0))
  if (!Number.isFinite(smallest)) return 0
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(smallest))))
}

const grouped = new Map<number, Intl.NumberFormat>()

/** A number with thousands separators and fixed decimals. */
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

/** A date in the current language. */
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

/** `4096³ FP32`, and `4096³ FP32, beta 1` with scalars that are not the task's own. */
export const problemText = (problem: Problem, unusual: Scalars = {}): string =>
  [`${problemLabel(problem)} ${optionsLabel(problem)}`.trimEnd(), named(unusual)]
    .filter(Boolean)
    .join(', ')

/** The number a rung's id starts with, else its position: `05_thread_tile_2d` → `05`. */
export const rungNumber = (id: string, index: number): string =>
  numberOfId(id) ?? String(index).padStart(2, '0')

/** The numbers of a ladder's rungs; a repeated number gets a letter: `05`, `05b`. */
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

/** The last component of a path, where the whole path would not fit. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Scales for bars and their axes: a value's share of the length, linear or logarithmic. */
export type ScaleKind = 'linear' | 'log'

export interface Scale {
  kind: ScaleKind
  min: number
  max: number
}

/** Linear from 0; logarithmic from the power of ten at or below the smallest positive value. */
export function makeScale(kind: ScaleKind, values: readonly number[]): Scale {
  const positive = values.filter((value) => Number.isFinite(value) && value > 0)
  if (positive.length === 0) return { kind, min: kind === 'log' ? 1 : 0, max: 10 }
  const max = Math.max(...positive)
  if (kind === 'linear') return { kind, min: 0, max }
  const min = 10 ** Math.floor(Math.log10(Math.min(...positive)))
  return { kind, min, max: Math.max(max, min * 10) }
}

/** 0 to 1; a positive value is always visible on a linear scale and never negative on a log scale. */
export function share(scale: Scale, value: number): number {
  if (!(value > 0)) return 0
  const raw =
    scale.kind === 'linear'
      ? value / scale.max
      : Math.log(value / scale.min) / Math.log(scale.max / scale.min)
  return Math.min(1, Math.max(0, raw))
}

/** Three to five round positions for an axis, or the powers of ten. */
export function ticks(scale: Scale): number[] {
  if (scale.kind === 'log') {
    const result: number[] = []
    for (let tick = scale.min; tick <= scale.max * 1.0001; tick *= 10) result.push(tick)
    return result
  }
  const rough = scale.max / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!
  const result: number[] = []
  for (let tick = 0; tick <= scale.max * 1.0001; tick += step) result.push(tick)
  return result
}
