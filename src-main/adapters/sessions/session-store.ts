/**
 * Sessions on disk. A session is a folder with session.json, sources/ and raw.jsonl. If ncu ran, it also has
 * profile.ncu-rep and, at the deep level, deep/. It is written once and never edited.
 */
import { cp, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { DeepProfile } from '../../domain/session/deep'
import { withoutRangeOccupancy, withSmallWaves } from '../../domain/analysis/derived-metrics'
import { inputError, type KernelLadderError, schemaFault } from '../../domain/errors'
import { message, type Statement, says } from '../../domain/messages/message'
import { withRegistry } from '../../domain/session/registry-figures'
import { Session } from '../../domain/session/session'
import { formats, upgraded } from '../../domain/session/upgrade'
import { parseJsonWithin } from '../../parsers/json-within'
import { sourcesFolder } from './session-sources'
import { diskError, errorCode, pathExists, readPlainFile } from '../disk/disk'
import { stageFolder } from '../disk/staging'
import { rawFile } from '../tools/raw-files'
import { sharedSession, shareSessionRow } from '../disk/shared-sessions'
import type { RowText } from '../disk/json-lines'
import { deepFile } from './deep-profiles'

export const sessionFile = 'session.json'
/** Ten times the largest import; raw output and deep profiles are separate files. */
const mostMebibytes = 128
/** ncu's own report, for Nsight Compute. */
export const reportFile = 'profile.ncu-rep'
/** Marks an imported session as not made here, which session.json does not contain. */
const importedFile = 'imported.json'

/** Returns the text of a session.json, in its folder or shared; null if there is none. */
export async function readSessionText(folder: string): Promise<RowText | null> {
  const place = join(folder, sessionFile)
  try {
    return { text: await readPlainFile(place, mostMebibytes), place }
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? ''))
      throw diskError(error, place, 'read')
    return sharedSession(folder)
  }
}

/** Reads, upgrades and validates a session. Rejects a newer or damaged one with the reason, without changing it. */
export async function readSession(folder: string): Promise<Session> {
  const found = await readSessionText(folder)
  if (found === null)
    throw inputError(
      message('sessions.notSession', { folder, file: sessionFile }),
      message(/\.(ncu-repz?|csv)$/i.test(folder) ? 'sessions.importFirst' : 'sessions.nameFolder'),
    )
  return parseSession(found.text, found.place)
}

/** Adds the text of a session.json to the file that the sessions next to `target` share. */
export const shareSession = (text: string, target: string): Promise<void> =>
  shareSessionRow(target, JSON.stringify(JSON.parse(text)))

/** Whether a folder was written by an import. A session from another machine may have been live there. */
export const isImported = (folder: string): Promise<boolean> =>
  pathExists(join(folder, importedFile))

/** Parses the text of a session.json; `path` is for error messages. */
export function parseSession(text: string, path: string): Session {
  const refuse = (why: Statement): KernelLadderError =>
    inputError(
      message('sessions.unreadable', { file: path, why }),
      message(says(why, 'files.newer') ? 'sessions.update' : 'sessions.useBackup'),
    )
  const parsed = parseJsonWithin(text)
  if ('refused' in parsed) throw refuse(parsed.refused)
  const current = upgraded(formats.session, parsed.value)
  if ('refused' in current) throw refuse(current.refused)
  const session = Session.safeParse(current.value)
  if (!session.success) throw refuse(schemaFault(session.error))
  return withRegistry(withoutRangeOccupancy(withWaves(session.data)))
}

/** Upgrades a session from a version that stored waves rounded by ncu to 0 as 0. */
const withWaves = (session: Session): Session => ({
  ...session,
  rungs: session.rungs.map((rung) => ({
    ...rung,
    metrics: withSmallWaves(
      rung.metrics,
      rung.launches ?? rung.profile?.kernels ?? [],
      session.device,
    ),
  })),
})

export interface SessionDraft {
  /** The folder to fill. */
  readonly path: string
  readonly reportPath: string
  addSource(file: string, text: string): Promise<void>
  addDeep(profile: DeepProfile): Promise<void>
  /** Records the file that the session was imported from. */
  markImported(from: string): Promise<void>
  /** Adds a file that is not part of the session itself, such as where its report was left. */
  addNote(file: string, note: object): Promise<void>
  /**
   * Writes session.json, checks that everything added is present, and makes the folder appear under its name. If that
   * has been taken, uses a similar free name. Returns the path.
   */
  commit(session: Session): Promise<string>
  /**
   * Creates the same draft in another place: everything added, and as much raw output and ncu report as can be
   * copied.
   */
  elsewhere(finalPath: string): Promise<SessionDraft>
  discard(): Promise<void>
}

/** Stages a session. If its name is taken by the time of the commit, it gets a similar free one. */
export const draftSession = (finalPath: string): Promise<SessionDraft> =>
  draftOf(resolve(finalPath), new Map())

/** Creates a draft. `added`: text by path in the folder, kept in memory in case the folder is removed. */
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
    // Not indented, because thousands of instructions would take twice the space.
    addDeep: (profile) => add(deepFile(profile.rung), `${JSON.stringify(profile)}\n`),
    markImported: (from) => add(importedFile, `${JSON.stringify({ schema: 1, from })}\n`),
    addNote: (file, note) => add(file, `${JSON.stringify(note)}\n`),
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
          // A partial output could be mistaken for a complete one.
          rm(target, { recursive: true, force: true }),
        )
      }
      return other
    },
    discard: () => staged.discard(),
  }
}
