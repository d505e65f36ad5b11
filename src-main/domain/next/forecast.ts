/** Compares a forecast, stored before a change was made, with the measurement after it. */
import { z } from 'zod'

export const Forecast = z.object({
  /** The move that was made. */
  move: z.string(),
  /** The rung before the change, and the copy with the change. */
  from: z.string(),
  to: z.string(),
  /** The forecast speedups. */
  low: z.number().positive(),
  high: z.number().positive(),
})
export type Forecast = z.infer<typeof Forecast>

export interface Outcome {
  verdict: 'within' | 'slower' | 'faster'
  /** The forecast times, relative to the original rung as measured next to the copy. */
  lowMs: number
  highMs: number
  ms: number
}

/** Times within half a percent count as equal. */
const tolerance = 1.005

/** Returns the outcome of a forecast; null if it belongs to another pair or a time is missing. */
export function outcomeOf(
  forecast: Forecast | null,
  from: { id: string; ms: number | null },
  to: { id: string; ms: number | null },
): Outcome | null {
  if (forecast?.from !== from.id || forecast.to !== to.id || !from.ms || !to.ms) return null
  const [lowMs, highMs] = [from.ms / forecast.high, from.ms / forecast.low]
  const verdict =
    to.ms > highMs * tolerance ? 'slower' : to.ms < lowMs / tolerance ? 'faster' : 'within'
  return { verdict, lowMs, highMs, ms: to.ms }
}

/** Parses a stored forecast; null if it is not valid. */
export function parseForecast(text: string): Forecast | null {
  try {
    return Forecast.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
