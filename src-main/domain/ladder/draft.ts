/** A draft: a user's edited copy of a rung, saved between visits. */
import { z } from 'zod'
import { Identifier, Parameters } from './rung'

/** More than any CUDA source edited here, and less than a host accepts in a call. */
const maxSourceLength = 300_000

export const DraftId = z.string().regex(/^draft-[0-9a-f]{16}$/)

export const Draft = z.object({
  schema: z.literal(1),
  id: DraftId,
  ladder: Identifier,
  /** The session's rung that it was copied from. */
  parent: Identifier,
  /** The ladder's rung that it runs after: the parent, or the parent's original. */
  base: Identifier,
  /** Its own id in the ladder, as declared in the source. */
  rung: Identifier,
  /** Parameter values of the parent; those that the copy no longer declares are ignored in builds. */
  params: Parameters,
  source: z.string().max(maxSourceLength),
  /** ISO 8601; null if it was never saved. */
  savedAt: z.string().nullable(),
})

export type Draft = z.infer<typeof Draft>

/** Returns the first free id: `05_tile` → `05_tile-edit1`. A copy of an edited rung continues the numbering. */
export function editId(base: string, taken: ReadonlySet<string>): string {
  // An identifier has at most 80 characters.
  const stem = base.slice(0, 70)
  for (let n = 1; ; n += 1) {
    const id = `${stem}-edit${n}`
    if (!taken.has(id)) return id
  }
}

/** Returns the original id: `05_tile-edit2` → `05_tile`; null if the id is not a copy's. */
export const editedFrom = (id: string): string | null => /^(.+)-edit\d+$/.exec(id)?.[1] ?? null

/** Returns the path that a copy would have in the library, among the rungs of its task. */
export const draftFile = (rung: string, task: string): string => `${task}/${rung}.cu`
