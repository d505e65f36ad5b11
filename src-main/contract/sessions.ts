/** Calls that rename, delete, restore and import saved sessions. */
import { z } from 'zod'
import { SessionRef } from '../domain/session/session-ref'

/** A one-line session title; null removes the title. */
const SessionTitle = z
  .string()
  .trim()
  .min(1)
  .max(120)
  // Control characters and line breaks are forbidden because the title is always shown on one line.
  .regex(/^\P{Cc}*$/u)

export const RenameRequest = z.object({ ref: SessionRef, title: SessionTitle.nullable() })
export const RefRequest = z.object({ ref: SessionRef })

export const DeletedSession = z.object({
  ref: SessionRef,
  /**
   * The user's title, or the ladder's title if the user has set none. Null if the session cannot be
   * read.
   */
  title: z.string().nullable(),
  /** Deletion time in ISO 8601. */
  deletedAt: z.string(),
})
export type DeletedSession = z.infer<typeof DeletedSession>

/** The reply after a host has imported a file. */
export const ImportAnswer = z.object({ ref: SessionRef })
export type ImportAnswer = z.infer<typeof ImportAnswer>

/**
 * Maximum size of an uploaded file in bytes. The limit exists because the program reads whole
 * reports into memory.
 */
export const maxUploadBytes = 2 ** 30
