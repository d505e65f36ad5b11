/**
 * Defines fields that explain why a rung is faster than another rung. Documents that compare rungs
 * include these fields.
 */
import { z } from 'zod'
import { Statement } from '../../../domain/messages/message'
import { Why } from '../../../domain/why/why'
import type { FieldsOf } from './document'
import type { WhyStep } from '../../../domain/why/why-steps'

const { limits, causes, unimportant, unexplained, unexplainedFactor, needs } = Why.shape

export const whyShape = {
  limits,
  causes,
  unimportant,
  unexplained,
  unexplainedFactor,
  needs,
  /** Reason why there are no causes, or null if there are causes. */
  noCauses: Statement.nullable(),
  /** Difference between the nvcc flags, or null if the flags are equal. */
  flags: Statement.nullable(),
  /**
   * Statement that times and causes are predicted. Absent if the times and causes were measured.
   */
  predicted: Statement.optional(),
}

/** Returns the fields. If there is no rung to compare with, `why` is null. */
export const whyFields = (why: Why | null): FieldsOf<typeof whyShape> => ({
  limits: why?.limits ?? { a: null, b: null },
  causes: why?.causes ?? [],
  unimportant: why?.unimportant ?? [],
  unexplained: why?.unexplained ?? null,
  unexplainedFactor: why?.unexplainedFactor ?? null,
  needs: why?.needs ?? null,
  noCauses: why?.reason ?? null,
  flags: why?.flags ?? null,
  ...(why?.predicted ? { predicted: why.predicted } : {}),
})

export const stepShape = {
  /** Rung that `b` is compared with. */
  a: z.string(),
  b: z.string(),
  verdict: Why.shape.verdict,
  ...whyShape,
}

export const stepFields = ({ a, b, why }: WhyStep): FieldsOf<typeof stepShape> => ({
  a: a.id,
  b: b.id,
  verdict: why.verdict,
  ...whyFields(why),
})
