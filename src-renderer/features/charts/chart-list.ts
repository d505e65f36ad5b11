/** The charts of a session, in the order in which they are listed. */
export const chartIds = [
  'roofline',
  'stalls',
  'traffic',
  'occupancy',
  'waves',
  'sweep',
  'study',
] as const
export type ChartId = (typeof chartIds)[number]

export const isChartId = (word: string | undefined): word is ChartId =>
  chartIds.some((id) => id === word)
