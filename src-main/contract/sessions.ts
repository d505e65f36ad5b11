/** Calls that manage saved sessions: renaming, deleting, restoring, and importing one from a file. */
import { z } from 'zod'
import { SessionRef } from '../domain/session/session-ref'

/** One line of text; null removes the name. */
const SessionTitle = z
  .string()
  .trim()
  .min(1)
  .max(120)
  // No line breaks or other control characters, because the title is always shown on one line.
  .regex(/^\P{Cc}*$/u)

export const RenameRequest = z.object({ ref: SessionRef, title: SessionTitle.nullable() })
export const RefRequest = z.object({ ref: SessionRef })

export const DeletedSession = z.object({
  ref: SessionRef,
  /** The user's title, else the ladder's; null if it cannot be read. */
  title: z.string().nullable(),
  /** ISO 8601. */
  deletedAt: z.string(),
})
export type DeletedSession = z.infer<typeof DeletedSession>

/** The reply after a host has received a file. */
export const ImportAnswer = z.object({ ref: SessionRef })
export type ImportAnswer = z.infer<typeof ImportAnswer>

/** The maximum size of an uploaded file, which is also the largest report that is read at once. */
export const maxUploadBytes = 2 ** 30
