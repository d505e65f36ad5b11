/**
 * Sessions on disk. A session is a folder: session.json, sources/, raw/, and when ncu ran profile.ncu-rep
 * and, at the deep level, deep/. It is written once and never edited.
 */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { z } from 'zod'
import type { DeepProfile } from '../../domain/session/deep'
import { inputError, KernelLadderError } from '../../domain/errors'
import { withRegistry } from '../../domain/session/registry-figures'
import { Session, sessionSchemaVersion } from '../../domain/session/session'
import { upgraded } from '../../domain/session/upgrade'
import { deepFile } from './deep-store'
import { diskError, errorCode, pathExists, stageFolder, type StagedFolder } from '../disk/disk'

const sessionFile = 'session.json'
/** Beside an imported session: that it was not made here, which its own session.json does not say. */
const importedFile = 'imported.json'

/** Reads and checks a session; one that is newer or damaged is refused with the reason and left as it is. */
export async function readSession(folder: string): Promise<Session> {
  const path = join(folder, sessionFile)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR'
      ? inputError(
          `${folder} is not a session: it has no ${sessionFile}.`,
          'Name a folder that `kernel-ladder run` has written, or recorded:<name>.',
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
  const refuse = (why: string): KernelLadderError =>
    inputError(
      `${path} cannot be read as a session: ${why}`,
      'The file was left as it was. Use a backup, or run the ladder again.',
    )
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse(`it is not JSON (${error instanceof Error ? error.message : String(error)}).`)
  }
  const version = z.object({ schema: z.number() }).safeParse(value)
  if (!version.success) throw refuse('it does not say its schema version.')
  if (version.data.schema > sessionSchemaVersion)
    throw refuse(
      `it has schema ${version.data.schema} and this version reads up to ${sessionSchemaVersion}; a newer kernel-ladder wrote it.`,
    )
  const session = Session.safeParse(upgraded(value))
  if (!session.success) throw refuse(z.prettifyError(session.error))
  return withRegistry(session.data)
}

/** Source text by rung id, from the session's sources/; a source that is gone is left out. */
export async function readSources(
  folder: string,
  session: Session,
): Promise<Record<string, string>> {
  const root = resolve(folder, 'sources')
  const entries = await Promise.all(
    session.rungs.map(async ({ id, file }) => {
      const path = resolve(root, file)
      // `file` comes from a file that may have been handed over: it must not lead out of sources/.
      if (!path.startsWith(root + sep)) return null
      const text = await readFile(path, 'utf8').catch(() => null)
      return text === null ? null : ([id, text] as const)
    }),
  )
  return Object.fromEntries(entries.filter((entry) => entry !== null))
}

export interface SessionDraft {
  /** The folder while it is being filled. */
  readonly path: string
  readonly rawDir: string
  readonly reportPath: string
  addSource(file: string, text: string): Promise<void>
  addDeep(profile: DeepProfile): Promise<void>
  /** Says beside the session from which file it was imported. */
  markImported(from: string): Promise<void>
  /** Writes session.json and makes the folder appear under its name; returns that path. */
  commit(session: Session): Promise<string>
  discard(): Promise<void>
}

export async function draftSession(finalPath: string): Promise<SessionDraft> {
  const staged: StagedFolder = await stageFolder(resolve(finalPath))
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw diskError(error, finalPath, 'write')
    }
  }
  return {
    path: staged.path,
    rawDir: join(staged.path, 'raw'),
    reportPath: join(staged.path, 'profile.ncu-rep'),
    addSource: (file, text) =>
      guard(async () => {
        const path = join(staged.path, 'sources', file)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, text)
      }),
    addDeep: (profile) =>
      guard(async () => {
        const path = join(staged.path, deepFile(profile.rung))
        await mkdir(dirname(path), { recursive: true })
        // Thousands of instructions: indented it would be twice the size.
        await writeFile(path, `${JSON.stringify(profile)}\n`)
      }),
    markImported: (from) =>
      guard(() =>
        writeFile(join(staged.path, importedFile), `${JSON.stringify({ schema: 1, from })}\n`),
      ),
    commit: async (session) => {
      await guard(() =>
        writeFile(join(staged.path, sessionFile), `${JSON.stringify(session, null, 2)}\n`),
      )
      return staged.commit()
    },
    discard: () => staged.discard(),
  }
}

export interface StoredSession {
  folder: string
  name: string
  session: Session | null
  imported: boolean
  /** Why it could not be read. */
  problem: string | null
}

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
          const problem = error instanceof Error ? error.message : String(error)
          return { folder, name: basename(folder), session: null, imported: false, problem }
        }
      }),
  )
  return found.sort((a, b) =>
    (b.session?.createdAt ?? '').localeCompare(a.session?.createdAt ?? ''),
  )
}
