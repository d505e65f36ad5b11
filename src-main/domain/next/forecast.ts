/** What was promised of a change before it was made, beside what was measured after it. */
import { z } from 'zod'

export const Forecast = z.object({
  /** The move that was tried. */
  move: z.string(),
  /** The rung that it starts from, and the copy that has the change. */
  from: z.string(),
  to: z.string(),
  /** The promised factors of the speed. */
  low: z.number().positive(),
  high: z.number().positive(),
})
export type Forecast = z.infer<typeof Forecast>

export interface Outcome {
  verdict: 'within' | 'slower' | 'faster'
  /** The promised times, from the time of the rung that it starts from as measured beside the copy. */
  lowMs: number
  highMs: number
  ms: number
}

/** Times within half a percent are the same. */
const tolerance = 1.005

/** Null where it is the forecast of another pair, or a time is missing. */
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

/** A forecast from its stored text; null if it is none. */
export function parseForecast(text: string): Forecast | null {
  try {
    return Forecast.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
