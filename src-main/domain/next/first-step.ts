/** The best step from a rung's recommendations, shown as one line next to the rung. */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { formatMs } from '../metrics/units'
import type { RungResult, Session } from '../session/session'
import { inEnglish } from '../text/english'
import { NextStep, type Next } from './next'
import { programPart } from './program-part'

export const FirstStep = z.object({
  limit: Statement,
  /** The best step; absent if no step is worthwhile. */
  step: NextStep.pick({ id: true, statement: true, speedup: true, msNow: true, msAfter: true })
    .extend({
      /**
       * For a program's kernel, the total time of all kernels before and after this step, in ms.
       */
      ofTotal: z.object({ msNow: z.number(), msAfter: z.number() }).optional(),
    })
    .optional(),
})
export type FirstStep = z.infer<typeof FirstStep>

export function firstStep(session: Session, rung: RungResult, { limit, steps }: Next): FirstStep {
  const [first] = steps
  if (!first) return { limit }
  const { id, statement, speedup, msNow, msAfter } = first
  const part = programPart(session, rung)
  const ofTotal = part && { msNow: part.totalMs, msAfter: part.totalMsAfter(speedup.mid) }
  return {
    limit,
    step: { id, statement, speedup, msNow, msAfter, ...(ofTotal ? { ofTotal } : {}) },
  }
}

/** Returns the limit, the change, and the two times as English text. */
export function firstStepWords({ limit, step }: FirstStep): string {
  if (!step) return inEnglish(limit)
  const { statement, msNow, msAfter, ofTotal } = step
  const after = `${formatMs(msAfter.low)} to ${formatMs(msAfter.high)}`
  const total = ofTotal
    ? ` (all kernels: ${formatMs(ofTotal.msNow)} → ${formatMs(ofTotal.msAfter)})`
    : ''
  return `${inEnglish(limit)} ${inEnglish(statement)} ${formatMs(msNow)} → ${after}${total}.`
}
