/** What a reader does with saved sessions: a name of their own, into the trash and back, one from a file. */
import { z } from 'zod'
import { SessionRef } from './session-ref'

/** One line of text; null takes the name away. */
export const SessionTitle = z
  .string()
  .trim()
  .min(1)
  .max(120)
  // No line breaks or other control signs: it is shown in one line everywhere.
  .regex(/^\P{Cc}*$/u)

export const RenameRequest = z.object({ ref: SessionRef, title: SessionTitle.nullable() })
export const RefRequest = z.object({ ref: SessionRef })

export const DeletedSession = z.object({
  ref: SessionRef,
  /** The reader's name, else the ladder's; null where it cannot be read. */
  title: z.string().nullable(),
  /** ISO 8601. */
  deletedAt: z.string(),
})
export type DeletedSession = z.infer<typeof DeletedSession>

/** The answer to a file handed over through a host. */
export const ImportAnswer = z.object({ ref: SessionRef })
export type ImportAnswer = z.infer<typeof ImportAnswer>

/** The most that is taken of a file in a browser; a report larger than this is not read at once either. */
export const maxUploadBytes = 2 ** 30
