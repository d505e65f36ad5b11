/** The JSON document that `compare --json` prints for two sessions. */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { CacheState } from '../session/session'

const verdicts = ['faster', 'slower', 'same', 'unresolved'] as const
export type SessionVerdict = (typeof verdicts)[number]

const ms = z.number().nullable()
const extent = z.tuple([z.number(), z.number(), z.number()]).nullable()

export const Side = z.object({
  /** Id of this unit's rung. */
  rung: z.string(),
  title: z.string(),
  /**
   * Number of launches whose times are summed. Null for a ladder's rung, whose time is a median.
   */
  launches: z.number().int().nullable(),
  /** L2 state when the unit was timed; null if ncu timed the unit or if the unit has no time. */
  cacheState: CacheState.nullable(),
  /** Range of a predicted time; absent for a measured time. */
  predicted: z.object({ lowMs: z.number(), highMs: z.number() }).optional(),
  /** The kernel; null if it is unknown or if the rung launches several kernels. */
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
  /** Time in milliseconds; null if the unit was not timed. */
  timeA: ms,
  timeB: ms,
  /** timeB / timeA; null unless the two times were measured in the same way. */
  ratio: z.number().nullable(),
})

/** Model error for a rung that was predicted in one session and measured in the other. */
export const PredictionError = z.object({
  /**
   * Predicted time divided by measured time, minus 1. For example, 0.1 means that the predicted
   * time is 10 % too long.
   */
  error: z.number(),
  /** Whether the measured time is in the predicted range. */
  inRange: z.boolean(),
})
export type PredictionError = z.infer<typeof PredictionError>

export const SessionComparison = z.object({
  a: z.string(),
  b: z.string(),
  comparable: z.object({
    ok: z.boolean(),
    /**
     * Reasons why the sessions cannot be compared, or possible causes of a difference other than
     * the code.
     */
    reasons: z.array(Statement),
  }),
  /**
   * Sentences that describe the differences, as shown in all UIs. Sentences about fusions come
   * first, followed by the total time.
   */
  answer: z.array(Statement),
  total: Times,
  pairs: z.array(
    Times.extend({
      /** Rung id, or `<rung>/2` for the second of a rung's several kernels. */
      a: z.string(),
      b: z.string(),
      sideA: Side,
      sideB: Side,
      /**
       * `rung`, `hand`, or the equal properties joined by `+`. `work` and `order` are included if
       * the other properties were equal for several kernels.
       */
      by: z.string(),
      verdict: z.enum(verdicts),
      /**
       * timeB − timeA in milliseconds, which is the pair's contribution to the change in total
       * time.
       */
      change: ms,
      /** The counters that changed most if neither side was timed; otherwise empty. */
      moved: z.array(Statement),
      /**
       * Prediction error of a pair with one predicted and one measured time. The pair's `ratio` is
       * null.
       */
      predictionError: PredictionError.optional(),
    }),
  ),
  /**
   * Kernels that were fused into fewer kernels or split into more, as groups of ids. Kernels in a
   * group are not listed in `pairs`, `onlyA` or `onlyB`.
   */
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
  /** All changes among unpaired kernels, listed by kernel id, including the changes in `fused`. */
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
