/** Helpers for the chart tests: a palette for drawing, and functions that read drawings. */
import type { Palette } from '../../src-renderer/charts/chart'

export const palette: Palette = {
  text: '#111111',
  text2: '#222222',
  text3: '#333333',
  rule: '#dddddd',
  ruleStrong: '#cccccc',
  bar: '#0000aa',
  barQuiet: '#999999',
  mark: '#000000',
  accent: '#00aa00',
  surface: '#ffffff',
  rest: '#777777',
  series: ['#100000', '#200000', '#300000', '#400000', '#500000', '#600000'],
  font: 'sans-serif',
}

export const size = { width: 800, height: 400 }
type Series = {
  type: string
  name: string
  data: {
    value: unknown
    label?: { show?: boolean; formatter?: string; position?: string; offset?: number[] }
  }[]
}
export const seriesOf = (option: { series?: unknown }) => option.series as Series[]
