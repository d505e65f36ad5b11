/** A draft: a user's edited copy of a rung, saved until the user discards it. */
import { z } from 'zod'
import { Identifier, Parameters } from './rung'

/**
 * Maximum source length. The length limit is larger than any CUDA source that users edit, and below
 * the hosts' size limit for a call.
 */
const maxSourceLength = 300_000

export const DraftId = z.string().regex(/^draft-[0-9a-f]{16}$/)

export const Draft = z.object({
  schema: z.literal(1),
  id: DraftId,
  ladder: Identifier,
  /** Id of the session rung that was copied. */
  parent: Identifier,
  /**
   * Id of the ladder rung that the draft runs after. The ladder rung is the parent, or the parent's
   * original if the parent is a draft.
   */
  base: Identifier,
  /** The draft's id in the ladder, as declared in the source. */
  rung: Identifier,
  /** The parent's parameter values. Builds ignore parameters that the draft no longer declares. */
  params: Parameters,
  source: z.string().max(maxSourceLength),
  /** Time of the last save in ISO 8601; null for an unsaved draft. */
  savedAt: z.string().nullable(),
})

export type Draft = z.infer<typeof Draft>

/**
 * Returns the first unused id for a draft: `05_tile` becomes `05_tile-edit1`. A copy of a draft
 * gets the next number.
 */
export function editId(base: string, taken: ReadonlySet<string>): string {
  // The suffix must fit, because an identifier has at most 80 characters.
  const stem = base.slice(0, 70)
  for (let n = 1; ; n += 1) {
    const id = `${stem}-edit${n}`
    if (!taken.has(id)) return id
  }
}

/**
 * Returns the id of a draft's original: `05_tile-edit2` becomes `05_tile`. Returns null if the id
 * is not a draft's.
 */
export const editedFrom = (id: string): string | null => /^(.+)-edit\d+$/.exec(id)?.[1] ?? null

/** Returns a draft's path in the kernel library, next to the task's rungs. */
export const draftFile = (rung: string, task: string): string => `${task}/${rung}.cu`
