/** Prints the change from the old time to the new time as text bars, one per cause. */
import { formatMs } from '../../../domain/metrics/units'
import { message } from '../../../domain/messages/message'
import { inEnglish } from '../../../domain/text/english'
import type { Waterfall } from '../../../domain/why/waterfall'

const width = 40

/** Returns a bar between two times, scaled to the longest time. */
function bar(from: number, to: number, most: number): string {
  const at = (ms: number): number => Math.round((width * ms) / most)
  const [start, end] = [Math.min(at(from), at(to)), Math.max(at(from), at(to))]
  return (' '.repeat(start) + '█'.repeat(Math.max(1, end - start))).padEnd(width).slice(0, width)
}

export function describeWaterfall({ fromMs, toMs, bars }: Waterfall, a: string, b: string): string {
  const most = Math.max(fromMs, toMs, ...bars.map((one) => one.toMs))
  const change = (ms: number): string => `${ms < 0 ? '−' : '+'}${formatMs(Math.abs(ms))}`
  const lines: [figure: string, drawn: string, what: string][] = [
    [formatMs(fromMs), bar(0, fromMs, most), a],
    ...bars.map((one): (typeof lines)[number] => [
      change(one.ms),
      bar(one.fromMs, one.toMs, most),
      inEnglish(message(`path.${one.cause ?? 'unexplained'}`)),
    ]),
    [formatMs(toMs), bar(0, toMs, most), b],
  ]
  const wide = Math.max(...lines.map(([figure]) => figure.length))
  return [
    'From the old time to the new:',
    ...lines.map(([figure, drawn, what]) => `  ${figure.padStart(wide)}  ${drawn}  ${what}`),
  ].join('\n')
}
