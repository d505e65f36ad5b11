/** Names and settings for a report's charts, and the type of a drawn chart. */

/** Ids of a session's charts, in list order. */
export const chartIds = [
  'roofline',
  'stalls',
  'mix',
  'traffic',
  'occupancy',
  'waves',
  'sweep',
  'study',
] as const

export type ChartId = (typeof chartIds)[number]

export const isChartId = (word: string | undefined): word is ChartId =>
  chartIds.some((id) => id === word)

/** Memory levels for a roofline chart. `all` shows every level. */
export const rooflineChoices = ['l1', 'l2', 'dram', 'all'] as const

export type RooflineChoice = (typeof rooflineChoices)[number]

/** Available scales for the stall chart. */
export const stallScales = ['warps', 'share'] as const

/** Available scales for the instruction mix chart. */
export const mixScales = ['share', 'count'] as const

export const sweepMeasures = ['toReference', 'toBefore', 'throughput'] as const

export type SweepMeasure = (typeof sweepMeasures)[number]

/** A drawn chart. */
export interface Drawing {
  svg: string
  /** Text alternative with the chart's figures. */
  label: string
}

/** A chart and its setting, such as `roofline:l2`. */
interface ChartWord {
  chart: string
  choice: string | undefined
}

export function chartWord(word: string): ChartWord {
  const [chart = '', choice] = word.split(/:(.*)/s)
  return { chart, choice }
}

/**
 * Returns the URL fragment at which a report page draws these charts. Each entry of `words`
 * consists of a chart id and an optional setting.
 */
export const drawingAddress = (words: readonly string[]): string =>
  `#/draw/${words.map(encodeURIComponent).join('/')}`

/** Returns the id of the page element with the SVG text of the drawing at this index. */
export const drawingElementId = (index: number): string => `kernel-ladder-drawing-${index}`

/** Name of the attribute with the text alternative, on the drawing's page element. */
export const drawingLabel = 'data-label'
