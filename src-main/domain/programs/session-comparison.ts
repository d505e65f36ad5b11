/** The shape of two sessions beside each other, as `compare --json` publishes it. */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { CacheState } from '../session/session'

const verdicts = ['faster', 'slower', 'same', 'unresolved'] as const
export type SessionVerdict = (typeof verdicts)[number]

const ms = z.number().nullable()
const extent = z.tuple([z.number(), z.number(), z.number()]).nullable()

export const Side = z.object({
  /** The rung of the session that it is, or is part of. */
  rung: z.string(),
  title: z.string(),
  /** How many launches its time is the sum of; null for the median of a ladder's rung. */
  launches: z.number().int().nullable(),
  /** What L2 held when it was timed; null if ncu timed it, or nothing did. */
  cacheState: CacheState.nullable(),
  /** The range of a predicted time; absent from a measured one. */
  predicted: z.object({ lowMs: z.number(), highMs: z.number() }).optional(),
  /** null if it is not known, or if the rung launches several. */
  kernel: z
    .object({
      name: z.string(),
      grid: extent,
      block: extent,
      range: z.string().nullable(),
    })
    .nullable(),
})

const Only = Side.extend({ id: z.string(), time: ms })

const Times = z.object({
  /** Milliseconds; null where nothing timed it. */
  timeA: ms,
  timeB: ms,
  /** timeB / timeA; null unless both were timed in the same way. */
  ratio: z.number().nullable(),
})

/** Of a rung that one session predicts and the other measured. */
export const PredictionError = z.object({
  /** The predicted over the measured time, less 1: 0.1 for 10 % too long. */
  error: z.number(),
  /** Whether the measured time lies inside the predicted range. */
  inRange: z.boolean(),
})
export type PredictionError = z.infer<typeof PredictionError>

export const SessionComparison = z.object({
  a: z.string(),
  b: z.string(),
  comparable: z.object({
    ok: z.boolean(),
    /** Why they cannot be compared, or what besides the code may explain a difference. */
    reasons: z.array(Statement),
  }),
  /** What they differ in, as every surface says it: fusions first, then the whole. */
  answer: z.array(Statement),
  total: Times,
  pairs: z.array(
    Times.extend({
      /** The rung's id, `<rung>/2` for the second kernel of a rung that launched several. */
      a: z.string(),
      b: z.string(),
      sideA: Side,
      sideB: Side,
      /** `rung`, `hand`, or the marks in which both agree, joined by `+`; among equals `work`, and `order` if that is equal too. */
      by: z.string(),
      verdict: z.enum(verdicts),
      /** timeB − timeA in milliseconds: its part in the change of the total. */
      change: ms,
      /** The counters that moved most, if neither was timed; empty otherwise. */
      moved: z.array(Statement),
      /** If one is predicted and the other measured, which then have no ratio. */
      predictionError: PredictionError.optional(),
    }),
  ),
  /** Kernels that became fewer, or more, by their ids. They are in no pair, and in neither `onlyA` nor `onlyB`. */
  fused: z.array(
    Times.extend({
      from: z.array(z.string()),
      to: z.array(z.string()),
      sidesA: z.array(Only),
      sidesB: z.array(Only),
      verdict: z.enum(verdicts),
      change: ms,
    }),
  ),
  onlyA: z.array(Only),
  onlyB: z.array(Only),
  /** What became of unpaired kernels, by their ids, with those in `fused`. */
  changes: z.array(
    Times.extend({
      kind: z.enum(['added', 'removed', 'fused', 'split', 'replaced']),
      a: z.array(z.string()),
      b: z.array(z.string()),
      change: ms,
    }),
  ),
})
export type SessionComparison = z.infer<typeof SessionComparison>
