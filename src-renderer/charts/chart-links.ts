/** Maps the parts of a chart to rungs for the pointer and the keyboard. */
import type { ChartOption } from './chart'

/** An axis with one category per rung. A category that links to no rung is undefined. */
export interface RungAxis {
  axis: 'x' | 'y'
  rungs: readonly (string | undefined)[]
}

/** A rung's mark. `at` contains the mark's axis coordinates. */
export interface RungPoint {
  rung: string
  series: number
  index: number
  at: [number, number]
}

/** A line from one rung to the next. `from` and `to` are axis coordinates. */
export interface RungJoin {
  a: string
  b: string
  series: number
  /** Name of the line's series. If the user hides the series, the line is hidden too. */
  name: string | undefined
  from: [number, number]
  to: [number, number]
}

interface Item {
  rung?: string
  /** The rung where the line starts. */
  before?: string
  value?: unknown
}

/** Returns the data items that belong to a rung, in drawing order. */
export function rungPoints({ series }: ChartOption): RungPoint[] {
  return [series ?? []].flat().flatMap(({ data }, place) =>
    ((data ?? []) as Item[]).flatMap((item, index): RungPoint[] => {
      const { rung, value } = item ?? {}
      if (rung === undefined) return []
      const at = Array.isArray(value) ? value.map(Number) : [index, Number(value)]
      if (at.length !== 2 || !at.every(Number.isFinite)) return []
      return [{ rung, series: place, index, at: [at[0]!, at[1]!] }]
    }),
  )
}

/** Returns the lines between rungs, in drawing order. */
export function rungJoins({ series }: ChartOption): RungJoin[] {
  return [series ?? []].flat().flatMap(({ data, name }, place) =>
    ((data ?? []) as Item[]).flatMap(({ rung, before, value }, index, all): RungJoin[] => {
      const start = all[index - 1]?.value
      if (rung === undefined || before === undefined) return []
      if (!Array.isArray(value) || !Array.isArray(start)) return []
      const [from, to] = [start.map(Number), value.map(Number)] as [number, number][]
      return [{ a: before, b: rung, series: place, name: name?.toString(), from: from!, to: to! }]
    }),
  )
}

/** Returns the distance from a point to a line segment. */
export function distanceToLine(
  [x, y]: readonly [number, number],
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
): number {
  const [across, down] = [x2 - x1, y2 - y1]
  const length = across * across + down * down
  const along = length === 0 ? 0 : ((x - x1) * across + (y - y1) * down) / length
  const at = Math.min(1, Math.max(0, along))
  return Math.hypot(x - x1 - at * across, y - y1 - at * down)
}

/** Returns the rungs without duplicates, in the order in which the arrow keys visit them. */
export const rungOrder = (axis: RungAxis | undefined, points: readonly RungPoint[]): string[] => [
  ...new Set(
    axis ? axis.rungs.filter((rung) => rung !== undefined) : points.map(({ rung }) => rung),
  ),
]

/** A series that the user can hide, with its symbol and color. */
export interface LegendEntry {
  name: string
  colour: string
  symbol: string
}

export function legendOf({ legend, series }: ChartOption): LegendEntry[] {
  const [own] = [legend ?? []].flat()
  const drawn = [series ?? []].flat() as {
    name?: string
    symbol?: string
    itemStyle?: { color?: string }
  }[]
  return ((own as { data?: (string | { name: string })[] } | undefined)?.data ?? []).map(
    (entry) => {
      const name = typeof entry === 'string' ? entry : entry.name
      const found = drawn.find((one) => one.name === name)
      return { name, colour: found?.itemStyle?.color ?? '', symbol: found?.symbol ?? 'rect' }
    },
  )
}

/** Returns the option without the hidden series. */
export function withHidden(option: ChartOption, hidden: readonly string[]): ChartOption {
  const { legend } = option
  if (!legend) return option
  return {
    ...option,
    legend: [legend].flat().map((own) => ({
      ...own,
      selected: Object.fromEntries(hidden.map((name) => [name, false])),
    })),
  }
}
