/** What of a chart belongs to which rung, so that the pointer and the keyboard reach it. */
import type { ChartOption } from './chart'

/** The categories of an axis, one per rung; undefined for one that leads nowhere. */
export interface RungAxis {
  axis: 'x' | 'y'
  rungs: readonly (string | undefined)[]
}

/** A mark of a rung; `at` are its axis coordinates. */
export interface RungPoint {
  rung: string
  series: number
  index: number
  at: [number, number]
}

/** A drawn line from one rung to the next; `from` and `to` are axis coordinates. */
export interface RungJoin {
  a: string
  b: string
  series: number
  /** Of the series, by which it is switched off. */
  name: string | undefined
  from: [number, number]
  to: [number, number]
}

interface Item {
  rung?: string
  /** The rung that a line comes from. */
  before?: string
  value?: unknown
}

/** The data items that name their rung, in drawing order. */
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

/** The lines between rungs, in drawing order. */
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

/** How far a point is from the line between two others. */
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

/** The rungs that keys walk through, each once, as drawn. */
export const rungOrder = (axis: RungAxis | undefined, points: readonly RungPoint[]): string[] => [
  ...new Set(
    axis ? axis.rungs.filter((rung) => rung !== undefined) : points.map(({ rung }) => rung),
  ),
]

/** Which of a chart's series are on offer to switch off, with what they are drawn in. */
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

/** The option without the series that were switched off. */
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
