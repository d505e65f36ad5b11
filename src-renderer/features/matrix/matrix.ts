/**
 * The matrix of rungs and metrics, which shows all of a session's values in one table. The matrix
 * is calculated once and does not depend on the language.
 */
import { type Verdict } from '../../../src-main/domain/analysis/compare'
import {
  metricDefinition,
  metricDefinitions,
  type MetricValue,
} from '../../../src-main/domain/metrics/metrics'
import type { Statement } from '../../../src-main/domain/messages/message'
import type { NcuMetrics, RungResult, Session } from '../../../src-main/domain/session/session'
import { formatCount, formatRatio, type Unit } from '../../../src-main/domain/metrics/units'
import { bareFigure, columnDecimals, fixed } from '../../ui/format'
import { groupMetrics, type MetricGroupId } from '../shared/metric-groups'
import { ratioFigure, throughputFigure, timeFigure } from '../shared/time-figures'

export type MatrixCell =
  | {
      kind: 'value'
      value: number
      text: string
      evidence: Exclude<MetricValue['evidence'], 'unavailable'>
      /**
       * The formatted value, set only if `text` is the factor or difference relative to a baseline.
       */
      exact?: string
      /** The verdict, or null in the baseline's own column. */
      verdict?: Verdict | null
    }
  /** A string value, which some ncu properties have. */
  | { kind: 'text'; text: string }
  /**
   * One value per kernel, for a rung with several kernels. ncu does not define how to combine the
   * values.
   */
  | { kind: 'several'; texts: readonly string[] }
  | { kind: 'unavailable'; reason: Statement | null }
  | { kind: 'absent' }

export interface MatrixRow {
  type: 'metric'
  /**
   * The row's id: `time`, `bandwidth`, `throughput`, `ratio`, a registry id, or an ncu metric name.
   */
  id: string
  source: 'timing' | 'registry' | 'ncu'
  /** The unit, empty if ncu reports no unit. */
  unit: string
  /** One cell per rung, in order. */
  cells: readonly MatrixCell[]
  /**
   * The heat of each cell, from 0 for the row's smallest value to 1 for its largest. The heat is
   * null if the cell has no value or all values are equal.
   */
  heat: readonly (number | null)[]
}
export type MatrixGroup = MetricGroupId | 'time' | 'ncu'
export type MatrixItem = MatrixRow | { type: 'group'; id: MatrixGroup }

const absent: MatrixCell = { kind: 'absent' }

function figureCell(
  figure: MetricValue | null | undefined,
  print: (value: number) => string = (value) => bareFigure(value, figure!.unit),
): MatrixCell {
  if (!figure) return absent
  if (figure.value === null) return { kind: 'unavailable', reason: figure.reason ?? null }
  return {
    kind: 'value',
    value: figure.value,
    text: print(figure.value),
    evidence: figure.evidence === 'unavailable' ? 'measured' : figure.evidence,
  }
}

const fiveDigits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 5 })

/**
 * Formats an ncu value in its base unit, shortened to fit a column. The status line shows the exact
 * value.
 */
function ncuNumber(value: number): string {
  if (Math.abs(value) >= 1e9) return formatCount(value)
  return Number.isInteger(value) ? fixed(value) : fiveDigits.format(value)
}

function ncuCell(metric: NcuMetrics[string] | undefined): MatrixCell {
  if (!metric) return absent
  if (metric.value === null) return { kind: 'unavailable', reason: null }
  return typeof metric.value === 'string'
    ? { kind: 'text', text: metric.value }
    : { kind: 'value', value: metric.value, text: ncuNumber(metric.value), evidence: 'measured' }
}

function ncuRungCell(rung: RungResult, name: string): MatrixCell {
  if (rung.ncuMetrics) return ncuCell(rung.ncuMetrics[name])
  const kernels =
    rung.profile?.kernels.flatMap(({ ncuMetrics }) => (ncuMetrics ? [ncuMetrics] : [])) ?? []
  const cells = kernels.map((metrics) => ncuCell(metrics[name]))
  if (cells.every(({ kind }) => kind === 'absent')) return absent
  return {
    kind: 'several',
    texts: cells.map((cell) => ('text' in cell && typeof cell.text === 'string' ? cell.text : '—')),
  }
}

/**
 * Returns each cell's heat. The scale is logarithmic if the row spans two orders of magnitude. On a
 * linear scale, all values except the largest would look the same.
 */
function heatOf(cells: readonly MatrixCell[]): (number | null)[] {
  const values = cells.flatMap((cell) => (cell.kind === 'value' ? [cell.value] : []))
  const min = Math.min(...values)
  const max = Math.max(...values)
  const log = min > 0 && max / min >= 100
  const place = (value: number) =>
    log ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min)
  return cells.map((cell) => (cell.kind === 'value' && max > min ? place(cell.value) : null))
}

const row = (
  id: string,
  source: MatrixRow['source'],
  unit: string,
  cells: readonly MatrixCell[],
): MatrixRow => ({ type: 'metric', id, source, unit, cells, heat: heatOf(cells) })

/**
 * Returns the names of the ncu metrics stored in the session's rungs, in addition to the registry's
 * ids.
 */
export function ncuNames(rungs: readonly RungResult[]): string[] {
  const names = new Set<string>()
  for (const { ncuMetrics, profile } of rungs) {
    for (const name of Object.keys(ncuMetrics ?? {})) names.add(name)
    for (const kernel of profile?.kernels ?? [])
      for (const name of Object.keys(kernel.ncuMetrics ?? {})) names.add(name)
  }
  return [...names].sort()
}

const unitOfNcu = (rungs: readonly RungResult[], name: string): string => {
  for (const { ncuMetrics, profile } of rungs) {
    const found =
      ncuMetrics?.[name] ??
      profile?.kernels.find((kernel) => kernel.ncuMetrics?.[name])?.ncuMetrics?.[name]
    if (found) return found.unit
  }
  return ''
}

const timing = (
  id: string,
  unit: Unit,
  rungs: readonly RungResult[],
  figure: (rung: RungResult) => MetricValue | null,
  print: (value: number) => string,
): MatrixRow =>
  row(
    id,
    'timing',
    unit,
    rungs.map((rung) => figureCell(figure(rung), print)),
  )

/**
 * Returns the matrix rows. `common` includes the times and the registry metrics that any rung has.
 * `all` adds every ncu metric.
 */
export function matrixItems(
  rungs: readonly RungResult[],
  which: 'common' | 'all',
  /**
   * Returns a rung's bandwidth. Pass this function for a memory-bound task, to show bandwidth
   * instead of operations per second.
   */
  bandwidth?: (rung: RungResult) => MetricValue | null,
): MatrixItem[] {
  const items: MatrixItem[] = []
  const times = rungs.flatMap(({ timing }) => (timing ? [timing.medianMs] : []))
  if (times.length) {
    // The header of each row states its unit, so do not mix µs and ms.
    const decimals = columnDecimals(times)
    items.push(
      { type: 'group', id: 'time' },
      timing('time', 'ms', rungs, timeFigure, (ms) => fixed(ms, decimals)),
      ...(bandwidth ? [timing('bandwidth', 'GB/s', rungs, bandwidth, (rate) => fixed(rate))] : []),
    )
    const timings = rungs.flatMap(({ timing: own }) => own ?? [])
    // Some tasks count no operations, and some ladders have no reference.
    if (!bandwidth && timings.some(({ gflops }) => gflops !== null))
      items.push(timing('throughput', 'GFLOP/s', rungs, throughputFigure, (rate) => fixed(rate)))
    if (timings.some(({ ratioToReference }) => ratioToReference !== null))
      items.push(
        timing('ratio', '×', rungs, ratioFigure, (ratio) => formatRatio(ratio).replace('×', '')),
      )
  }
  const known = metricDefinitions
    .map(({ id }) => id)
    .filter((id) => rungs.some(({ metrics }) => metrics[id]))
  for (const group of groupMetrics(known)) {
    items.push({ type: 'group', id: group.id })
    for (const id of group.metrics)
      items.push(
        row(
          id,
          'registry',
          metricDefinition(id)!.unit,
          rungs.map(({ metrics }) => figureCell(metrics[id])),
        ),
      )
  }
  if (which === 'common') return items
  const names = ncuNames(rungs)
  if (names.length) items.push({ type: 'group', id: 'ncu' })
  for (const name of names)
    items.push(
      row(
        name,
        'ncu',
        unitOfNcu(rungs, name),
        rungs.map((rung) => ncuRungCell(rung, name)),
      ),
    )
  return items
}

/**
 * Returns the rungs in the URL, in session order. If the URL contains no known rung, returns all
 * rungs.
 */
export function chosenRungs(session: Session, wanted: readonly string[]): readonly RungResult[] {
  const found = session.rungs.filter(({ id }) => wanted.includes(id))
  return found.length ? found : session.rungs
}

/**
 * Returns the rows whose label or name contains the search text, and the headings of their groups.
 */
export function filterItems(
  items: readonly MatrixItem[],
  search: string,
  label: (row: MatrixRow) => string,
): MatrixItem[] {
  const wanted = search.trim().toLowerCase()
  if (!wanted) return [...items]
  const kept = items.filter(
    (item) => item.type === 'group' || `${label(item)}\n${item.id}`.toLowerCase().includes(wanted),
  )
  return kept.filter((item, index) => item.type === 'metric' || kept[index + 1]?.type === 'metric')
}
