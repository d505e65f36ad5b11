/** A copy of a rung that a reader edits: kept between visits, built and run after the rung it came from. */
import { z } from 'zod'
import { Identifier, Parameters } from './rung'

/** More than the longest CUDA source that a person edits here, and less than what a host takes in a call. */
export const maxSourceLength = 300_000

export const DraftId = z.string().regex(/^draft-[0-9a-f]{16}$/)

export const Draft = z.object({
  schema: z.literal(1),
  id: DraftId,
  ladder: Identifier,
  /** The rung of the session that it was copied from. */
  parent: Identifier,
  /** The rung of the ladder that it runs after: the parent, or what the parent is a copy of. */
  base: Identifier,
  /** Its own id in the ladder; the source declares it. */
  rung: Identifier,
  /** Parameter values of the parent; those that the copy no longer declares are left out of a build. */
  params: Parameters,
  source: z.string().max(maxSourceLength),
  /** ISO 8601; null while it was never saved. */
  savedAt: z.string().nullable(),
})
export type Draft = z.infer<typeof Draft>

/** `05_tile` → `05_tile-edit1`, the first such id that is not taken; an edited rung's copy counts on. */
export function editId(base: string, taken: ReadonlySet<string>): string {
  // An identifier has at most 80 signs.
  const stem = base.slice(0, 70)
  for (let n = 1; ; n += 1) {
    const id = `${stem}-edit${n}`
    if (!taken.has(id)) return id
  }
}

/** `05_tile-edit2` → `05_tile`; null for an id that is no copy's. */
export const editedFrom = (id: string): string | null => /^(.+)-edit\d+$/.exec(id)?.[1] ?? null

/** Where a copy would lie in the library: among the rungs of its task. */
export const draftFile = (rung: string, task: string): string => `${task}/${rung}.cu`
