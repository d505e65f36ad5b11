/** Compares a forecast that was stored before a change with the measurement after the change. */
import { z } from 'zod'

export const Forecast = z.object({
  /** The move that the user made. */
  move: z.string(),
  /** Ids of the original rung and the edited copy. */
  from: z.string(),
  to: z.string(),
  /** The range of the forecast speedup. */
  low: z.number().positive(),
  high: z.number().positive(),
})
export type Forecast = z.infer<typeof Forecast>

export interface Outcome {
  verdict: 'within' | 'slower' | 'faster'
  /**
   * The predicted range of times, computed from the original rung's time in the same session.
   */
  lowMs: number
  highMs: number
  ms: number
}

/** Times within half a percent are treated as equal. */
const tolerance = 1.005

/**
 * Returns a forecast's outcome. Returns null if the forecast is for other rungs or a time is
 * missing.
 */
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

/** Parses a stored forecast. Returns null for invalid text. */
export function parseForecast(text: string): Forecast | null {
  try {
    return Forecast.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
