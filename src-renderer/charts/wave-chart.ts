/**
 * A chart that shows how a grid's blocks are distributed over SMs and waves. The chart has one row
 * per SM and one column per wave. Each cell has one band per block slot.
 */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'

interface WaveChartSpec {
  /** The blocks on each SM. `slot` is 0 to `slots` - 1. `wave` starts at 0. */
  sms: readonly (readonly { block: number; slot: number; wave: number }[])[]
  slots: number
  /** The waves to draw, in order. Skipped waves leave a gap. */
  waves: readonly number[]
  lastWave: number
  smAxis: string
  waveAxis: string
  /** Text shown in the gap between waves. */
  leftOut: string
  blockText: (
    block: number,
    sm: number,
    wave: number,
  ) => { title: string; lines: readonly string[] }
}

const gapWidth = 0.5

/**
 * Returns the start of each drawn wave on the horizontal axis. One unit is the duration of one
 * block.
 */
export function wavePlaces(waves: readonly number[]): { start: Map<number, number>; end: number } {
  const start = new Map<number, number>()
  let at = 0
  waves.forEach((wave, index) => {
    const before = waves[index - 1]
    if (before !== undefined && wave > before + 1) at += gapWidth
    start.set(wave, at)
    at += 1
  })
  return { start, end: at }
}

export const waveChart =
  (spec: WaveChartSpec): ChartBuilder =>
  (palette) => {
    const { start, end } = wavePlaces(spec.waves)
    const text = axisText(palette)
    const blocks = spec.sms.flatMap((own, sm) => own.map((block) => ({ ...block, sm })))
    const gap = spec.waves.find(
      (wave, index) => index > 0 && wave > (spec.waves[index - 1] ?? 0) + 1,
    )
    const gapAt = gap === undefined ? undefined : (start.get(gap) ?? 0) - gapWidth / 2
    const colour = (wave: number) =>
      wave === spec.lastWave
        ? (palette.series[1] ?? palette.accent)
        : (palette.series[0] ?? palette.bar)
    return {
      animation: false,
      aria: { enabled: false },
      grid: { left: 48, right: 20, top: 30, bottom: 46, outerBoundsMode: 'none' },
      tooltip: tooltip(palette, 'item', ({ dataIndex }) => {
        const block = blocks[dataIndex]
        return block && spec.blockText(block.block, block.sm, block.wave)
      }),
      xAxis: {
        type: 'value',
        min: 0,
        max: end,
        interval: 1,
        ...axisName(palette, spec.waveAxis, 'x'),
        ...axisLines(palette),
        splitLine: { show: false },
        axisLabel: { show: false },
      },
      yAxis: {
        type: 'value',
        inverse: true,
        min: 0,
        max: spec.sms.length,
        ...axisName(palette, spec.smAxis, 'y'),
        nameLocation: 'start',
        ...axisLines(palette),
        splitLine: { show: false },
        axisLabel: text,
      },
      series: [
        {
          type: 'custom',
          name: '',
          // Draw everything in one frame. A partial drawing would look complete.
          progressive: 0,
          data: blocks.map(({ wave, sm, slot }) => [start.get(wave) ?? 0, sm + slot / spec.slots]),
          encode: { x: 0, y: 1 },
          renderItem: (params, api) => {
            const block = blocks[params.dataIndex]
            if (!block) return { type: 'group', children: [] }
            const [x = 0, y = 0] = api.coord([api.value(0), api.value(1)])
            const [right = 0, bottom = 0] = api.coord([
              Number(api.value(0)) + 1,
              Number(api.value(1)) + 1 / spec.slots,
            ])
            // Snap to whole pixels to avoid aliasing. Omit the gaps between thin bands, because a
            // gap would hide the band.
            const upper = Math.round(y)
            const height = Math.max(1, Math.round(bottom) - upper)
            const space = height >= 4 ? 1 : 0
            return {
              type: 'rect',
              shape: {
                x: x + 1,
                y: upper,
                width: Math.max(1, right - x - 2),
                height: height - space,
              },
              style: { fill: colour(block.wave) },
            }
          },
        },
        {
          type: 'scatter',
          name: '',
          silent: true,
          symbolSize: 0,
          data: [
            ...spec.waves.map((wave) => ({
              value: [(start.get(wave) ?? 0) + 0.5, spec.sms.length],
              label: {
                show: true,
                position: 'bottom' as const,
                distance: 4,
                formatter: String(wave + 1),
                fontFamily: palette.font,
                fontSize: 11,
                color: palette.text2,
              },
            })),
            ...(gapAt === undefined
              ? []
              : [
                  {
                    value: [gapAt, spec.sms.length / 2],
                    label: {
                      show: true,
                      rotate: 90,
                      position: 'inside' as const,
                      formatter: spec.leftOut,
                      fontFamily: palette.font,
                      fontSize: 11,
                      color: palette.text2,
                    },
                  },
                ]),
          ],
        },
      ],
    }
  }
