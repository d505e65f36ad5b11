/** Calls that open, save, build and discard drafts. A draft is an editable copy of a rung. */
import { z } from 'zod'
import { Statement } from '../domain/messages/message'
import { Identifier } from '../domain/ladder/rung'
import { Draft, DraftId } from '../domain/ladder/draft'
import { RungBuild, RungCounters } from './rung-builds'
import { FolderPath } from './folders'
import { SessionRef } from '../domain/session/session-ref'

/** A rung of a session. */
const OpenDraft = z.object({ session: SessionRef, rung: Identifier })

/** The edited draft. `savedAt` is the version that the edit started from; null for a new draft. */
const EditedDraft = Draft.omit({ schema: true })

const DraftSummary = Draft.omit({ schema: true, source: true, params: true })

type DraftSummary = z.infer<typeof DraftSummary>

/** The place where edits to a session's rung are saved: a draft or the ladder folder. */
export const EditingPlace = z.discriminatedUnion('at', [
  z.object({ at: z.literal('copy') }),
  z.object({ at: z.literal('folder'), path: FolderPath, file: z.string() }),
  z.object({ at: z.literal('nowhere'), reason: Statement }),
])

export type EditingPlace = z.infer<typeof EditingPlace>

const BuildDraft = z.object({
  session: SessionRef,
  draft: EditedDraft,
})

export const draftCalls = {
  'drafts.place': { input: OpenDraft, output: EditingPlace },
  /** Returns the saved draft of this rung, or a new unsaved draft. */
  'drafts.open': { input: OpenDraft, output: Draft },
  'drafts.list': { input: z.object({}), output: z.array(DraftSummary) },
  /**
   * Saves a draft. If the stored draft changed since the edit started, nothing is saved and `other`
   * is the stored draft.
   */
  'drafts.save': {
    input: EditedDraft,
    output: z.object({ savedAt: z.string().nullable(), other: Draft.nullable() }),
  },
  'drafts.delete': { input: z.object({ id: DraftId }), output: z.object({}) },
  /** Builds a draft. Requires nvcc but no GPU. */
  'drafts.build': { input: BuildDraft, output: RungBuild },
  /**
   * Builds a draft and collects its counters on an emulated GPU. A new call cancels the previous
   * call if that call is still running.
   */
  'drafts.counters': { input: BuildDraft, output: RungCounters },
} as const
