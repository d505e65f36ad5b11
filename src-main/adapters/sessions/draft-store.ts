/**
 * Stores edited copies of rungs on disk. Each copy is a private file that is replaced atomically on
 * every save.
 */
import { randomBytes } from 'node:crypto'
import { readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { diskError, errorCode, makeFolder, replaceFile } from '../disk/disk'
import { Draft, DraftId } from '../../domain/ladder/draft'

/** Maximum number of drafts. No user would create that many drafts by hand. */
const maxDrafts = 500

interface DraftStore {
  /** Returns the drafts, newest first. Skips unreadable files. */
  list(): Promise<Draft[]>
  /** Returns a draft by id, or null if there is no such draft. */
  read(id: string): Promise<Draft | null>
  /**
   * Saves a draft unless `conflict` finds a conflicting draft. Returns the conflicting draft, or
   * null if there is none. Saves run one at a time, so that the stored drafts cannot change between
   * the check and the write.
   */
  save(draft: Draft, conflict: (stored: readonly Draft[]) => Draft | null): Promise<Draft | null>
  remove(id: string): Promise<void>
}

export const newDraftId = (): string => `draft-${randomBytes(8).toString('hex')}`

/** The promise of this process's last save, by folder. */
const turns = new Map<string, Promise<unknown>>()

export function draftStore(folder: string): DraftStore {
  const pathOf = (id: string): string => {
    if (!DraftId.safeParse(id).success)
      throw inputError(`${JSON.stringify(id.slice(0, 60))} is not the id of a draft.`)
    return join(folder, `${id}.json`)
  }
  const read = async (id: string): Promise<Draft | null> => {
    const path = pathOf(id)
    try {
      const draft = Draft.parse(JSON.parse(await readFile(path, 'utf8')))
      return draft.id === id ? draft : null
    } catch (error) {
      if (errorCode(error) === 'EACCES') throw diskError(error, path, 'read')
      return null
    }
  }
  const list = async (): Promise<Draft[]> => {
    const names = await readdir(folder).catch(() => [])
    const ids = names.flatMap((name) => /^(draft-[0-9a-f]{16})\.json$/.exec(name)?.[1] ?? [])
    const drafts = await Promise.all(ids.map((id) => read(id).catch(() => null)))
    return drafts
      .filter((draft) => draft !== null)
      .sort((a, b) => (b.savedAt ?? '').localeCompare(a.savedAt ?? ''))
  }
  const write = async (draft: Draft): Promise<void> => {
    const path = pathOf(draft.id)
    try {
      await makeFolder(folder)
      const others = (await readdir(folder)).filter((name) => name !== `${draft.id}.json`)
      if (others.length >= maxDrafts)
        throw inputError(
          message('drafts.tooMany', { count: maxDrafts }),
          message('drafts.discard', { folder }),
        )
      await replaceFile(path, JSON.stringify(draft), { mode: 0o600, flush: true })
    } catch (error) {
      throw diskError(error, path, 'write')
    }
  }
  return {
    read,
    list,
    save(draft, conflict) {
      const work = async (): Promise<Draft | null> => {
        const other = conflict(await list())
        if (!other) await write(draft)
        return other
      }
      const turn = (turns.get(folder) ?? Promise.resolve()).then(work, work)
      turns.set(folder, turn)
      return turn
    },
    async remove(id) {
      await rm(pathOf(id), { force: true })
    },
  }
}
