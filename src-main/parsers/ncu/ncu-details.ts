/**
 * Parses the output of `ncu --csv --page details`. The page has one row per metric and one row per
 * piece of advice, grouped by launch.
 *
 * A metric row contains a label instead of ncu's metric name, so the value is stored as `Section:
 * Label`. A few labels match a metric in the registry. For these labels, the value is also stored
 * under the metric's name. A metric requested by name (`--metrics`) is stored under that name.
 */
import { columnsOf, parseLaunch, type NcuLaunch } from './ncu-csv'
import { type Columns } from './ncu-values'
import { ruleReader } from './ncu-advice'
import type { NumberStyle } from './ncu-number-style'
import { toBaseUnit } from './ncu-base-units'

/**
 * ncu's metric names by label on the details page. The table was derived by comparing the raw and
 * details pages of one report (ncu 2025.3.1). The details page rounds to two digits.
 */
const metricOfLabel: Record<string, string> = {
  Duration: 'gpu__time_duration.sum',
  'Registers Per Thread': 'launch__registers_per_thread',
  'Theoretical Occupancy': 'sm__maximum_warps_per_active_cycle_pct',
  'Achieved Occupancy': 'sm__warps_active.avg.pct_of_peak_sustained_active',
  'Waves Per SM': 'launch__waves_per_multiprocessor',
}

/**
 * Whether a label is a metric name such as `dram__bytes_read.sum`, not a phrase such as `Registers
 * Per Thread`.
 */
const isMetricName = (label: string): boolean => /^[a-z][a-z0-9]*__\w+(\.\w+)*$/.test(label)

const metricColumns = ['Section Name', 'Metric Name', 'Metric Unit', 'Metric Value']

export const isDetailsHeader = (header: readonly string[]): boolean =>
  metricColumns.every((column) => header.includes(column))

/**
 * Maximum number of rules per launch. ncu has about forty rules. If a file has more rules than the
 * maximum, ncu did not write it.
 */
const maxRules = 200

export class DetailsPage {
  /** Number of columns at the start of a row that describe the launch. */
  readonly #own: number
  readonly #launchColumns: Columns
  readonly #columns: number[]
  #key = ''
  #current: NcuLaunch | null = null
  #total = 0
  readonly #readRule: ReturnType<typeof ruleReader>
  #wanted = true

  constructor(
    readonly header: string[],
    readonly take: (launch: NcuLaunch) => boolean,
  ) {
    this.#own = header.indexOf('Section Name')
    this.#launchColumns = columnsOf(header.slice(0, this.#own), [])
    this.#columns = metricColumns.map((column) => header.indexOf(column))
    this.#readRule = ruleReader(header)
  }

  add(row: string[], style: NumberStyle): void {
    const key = row.slice(0, 2).join()
    if (key !== this.#key) this.#begin(key, row)
    const [section = '', label = '', unitText = '', cell = ''] = this.#columns.map(
      (index) => row[index] ?? '',
    )
    if (this.#current === null) return
    if (label === '') return this.#addRule(this.#current, row)
    const { unit, factor } = toBaseUnit(unitText)
    const value = style.read(cell, {
      at: 0,
      name: label,
      unit,
      factor,
      measured: unitText !== '',
    })
    style.rowDone()
    const figure = { value: typeof value === 'number' ? value * factor : value, unit }
    this.#current.metrics[isMetricName(label) ? label : `${section}: ${label}`] = figure
    if (Object.hasOwn(metricOfLabel, label)) this.#current.metrics[metricOfLabel[label]!] = figure
  }

  /** Number of cells in a metric row, which has no advice columns. */
  get metricCells(): number {
    return this.header.indexOf('Metric Value') + 1
  }

  /** Finishes the page and returns the number of launches. */
  end(): number {
    this.#handOut()
    return this.#total
  }

  #addRule(launch: NcuLaunch, row: string[]): void {
    const rule = this.#readRule(row)
    if (rule === null || (launch.rules?.length ?? 0) >= maxRules) return
    launch.rules = [...(launch.rules ?? []), rule]
  }

  #handOut(): void {
    if (this.#current !== null) this.#wanted = this.take(this.#current)
    this.#current = null
  }

  #begin(key: string, row: string[]): void {
    this.#handOut()
    this.#key = key
    const launch = parseLaunch(this.#launchColumns, row.slice(0, this.#own), [])
    if (launch === null) return
    this.#total += 1
    if (this.#wanted) this.#current = { ...launch, metrics: {} }
  }
}
