/** A chart of the Charts screen as a picture: its name, and what the page that draws it leaves behind. */

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

/** The address at which a report page draws one chart; `choice` is the setting of its controls. */
export const drawingAddress = (chart: ChartId, choice?: string): string =>
  `#/draw/${chart}${choice === undefined ? '' : `/${encodeURIComponent(choice)}`}`

/** The id of the element that then contains the drawing, as SVG text. */
export const drawingElementId = 'kernel-ladder-drawing'
