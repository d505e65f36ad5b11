/** Charts that a report can draw: their names and choices, and the drawings. */

/** The charts of a session, in list order. */
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

/** The levels of memory that a roofline can be of, or every one at once. */
export const rooflineChoices = ['l1', 'l2', 'dram', 'all'] as const

export type RooflineChoice = (typeof rooflineChoices)[number]

/** The scales that stalls can be drawn on. */
export const stallScales = ['warps', 'share'] as const

/** The scales that an instruction mix can be drawn on. */
export const mixScales = ['share', 'count'] as const

export const sweepMeasures = ['toReference', 'toBefore', 'throughput'] as const

export type SweepMeasure = (typeof sweepMeasures)[number]

/** A chart that was drawn. */
export interface Drawing {
  svg: string
  /** The figures in words. */
  label: string
}

/** A chart with the setting of its controls, as `roofline:l2`. */
interface ChartWord {
  chart: string
  choice: string | undefined
}

export function chartWord(word: string): ChartWord {
  const [chart = '', choice] = word.split(/:(.*)/s)
  return { chart, choice }
}

/** The address at which a report page draws these charts, each with its setting. */
export const drawingAddress = (words: readonly string[]): string =>
  `#/draw/${words.map(encodeURIComponent).join('/')}`

/** The id of the element that then contains the drawing at this place of the list, as SVG text. */
export const drawingElementId = (index: number): string => `kernel-ladder-drawing-${index}`

/** Its attribute with the figures in words. */
export const drawingLabel = 'data-label'
