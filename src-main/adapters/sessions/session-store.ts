/**
 * Sessions on disk. A session is a folder: session.json, sources/, raw.jsonl, and when ncu ran profile.ncu-rep
 * and, at the deep level, deep/. It is written once and never edited.
 */
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { DeepProfile } from '../../domain/session/deep'
import { errorText, inputError, toErrorShape, type KernelLadderError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { withRegistry } from '../../domain/session/registry-figures'
import { Session } from '../../domain/session/session'
import { formats, upgraded } from '../../domain/session/upgrade'
import { deepFile } from './deep-store'
import { diskError, errorCode, pathExists, readPlainFile } from '../disk/disk'
import { stageFolder } from '../disk/staging'
import { rawFile } from '../tools/raw-files'
import { sourcesFolder } from './session-sources'

const sessionFile = 'session.json'
const reportFile = 'profile.ncu-rep'
/** Beside an imported session: that it was not made here, which its own session.json does not say. */
const importedFile = 'imported.json'

/** Reads, upgrades and checks a session; one that is newer or damaged is refused with the reason and left as it is. */
export async function readSession(folder: string): Promise<Session> {
  const path = join(folder, sessionFile)
  let text: string
  try {
    text = await readPlainFile(path)
  } catch (error) {
    throw errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR'
      ? inputError(
          message('sessions.notSession', { folder, file: sessionFile }),
          message('sessions.nameFolder'),
        )
      : diskError(error, path, 'read')
  }
  return parseSession(text, path)
}

/** Whether a folder was written by an import; a session of another machine may have been live there. */
export const isImported = (folder: string): Promise<boolean> =>
  pathExists(join(folder, importedFile))

/** Parses the text of a session.json; `path` is for the sentence when it cannot be. */
export function parseSession(text: string, path: string): Session {
  const refuse = (why: Statement): KernelLadderError =>
    inputError(message('sessions.unreadable', { file: path, why }), message('sessions.useBackup'))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse(message('files.notJson', { text: errorText(error) }))
  }
  const current = upgraded(formats.session, value)
  if ('refused' in current) throw refuse(current.refused)
  const session = Session.safeParse(current.value)
  if (!session.success) throw refuse(z.prettifyError(session.error))
  return withRegistry(session.data)
}

export interface SessionDraft {
  /** The folder while it is being filled. */
  readonly path: string
  readonly reportPath: string
  addSource(file: string, text: string): Promise<void>
  addDeep(profile: DeepProfile): Promise<void>
  /** Says beside the session from which file it was imported. */
  markImported(from: string): Promise<void>
  /**
   * Writes session.json, sees to it that all that was added is there, and makes the folder appear under
   * its name or, where that is taken by now, a free one like it; returns its path.
   */
  commit(session: Session): Promise<string>
  /** The same draft for another place: what was added, and as much of the raw output and ncu's report as can be copied. */
  elsewhere(finalPath: string): Promise<SessionDraft>
  discard(): Promise<void>
}

/** Stages a session; where someone else has taken the name by then, it gets a free one like it. */
export const draftSession = (finalPath: string): Promise<SessionDraft> =>
  draftOf(resolve(finalPath), new Map())

/** `added`: text by path in the folder. Whoever clears the folder away meanwhile does not clear that away. */
async function draftOf(finalPath: string, added: Map<string, string>): Promise<SessionDraft> {
  const staged = await stageFolder(finalPath)
  const write = async (path: string, text: string): Promise<void> => {
    const target = join(staged.path, path)
    try {
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, text)
    } catch (error) {
      throw diskError(error, finalPath, 'write')
    }
  }
  const add = (path: string, text: string): Promise<void> => {
    added.set(path, text)
    return write(path, text)
  }
  const isThere = async (path: string, text: string): Promise<boolean> =>
    stat(join(staged.path, path)).then(
      ({ size }) => size === Buffer.byteLength(text),
      () => false,
    )
  try {
    for (const [path, text] of added) await write(path, text)
  } catch (error) {
    await staged.discard()
    throw error
  }
  return {
    path: staged.path,
    reportPath: join(staged.path, reportFile),
    addSource: (file, text) => add(join(sourcesFolder, file), text),
    // Thousands of instructions: indented it would be twice the size.
    addDeep: (profile) => add(deepFile(profile.rung), `${JSON.stringify(profile)}\n`),
    markImported: (from) => add(importedFile, `${JSON.stringify({ schema: 1, from })}\n`),
    async commit(session) {
      await add(sessionFile, `${JSON.stringify(session, null, 2)}\n`)
      for (const [path, text] of added) if (!(await isThere(path, text))) await write(path, text)
      return staged.commit()
    },
    async elsewhere(otherPath) {
      const other = await draftOf(resolve(otherPath), new Map(added))
      for (const part of [rawFile, reportFile]) {
        const target = join(other.path, part)
        await cp(join(staged.path, part), target, { recursive: true }).catch(() =>
          // Half of an output would be read as the whole of it.
          rm(target, { recursive: true, force: true }),
        )
      }
      return other
    },
    discard: () => staged.discard(),
  }
}

export type StoredSession = { folder: string; name: string; imported: boolean } & (
  | { session: Session; problem: null }
  /** Why it could not be read. */
  | { session: null; problem: Statement }
)

/** Every session folder directly below `root`, newest first; unreadable ones are listed with the reason. */
export async function listSessions(root: string): Promise<StoredSession[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const found = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(async (entry): Promise<StoredSession> => {
        const folder = join(root, entry.name)
        try {
          return {
            folder,
            name: basename(folder),
            session: await readSession(folder),
            imported: await isImported(folder),
            problem: null,
          }
        } catch (error) {
          const { message: problem } = toErrorShape(error)
          return { folder, name: basename(folder), session: null, imported: false, problem }
        }
      }),
  )
  return found.sort((a, b) =>
    (b.session?.createdAt ?? '').localeCompare(a.session?.createdAt ?? ''),
  )
}
