/** Fields that explain why one rung is faster than another, for documents that compare rungs. */
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
  /** The reason no causes are given, or null if there are causes. */
  noCauses: Statement.nullable(),
  /** The difference between the nvcc flags, or null if the flags are equal. */
  flags: Statement.nullable(),
  /** A statement that times and causes are predicted. Absent if they were measured. */
  predicted: Statement.optional(),
}

/** Returns the fields. `why` is null for a rung without a comparison rung. */
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
  /** The rung that `b` is compared with. */
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
