/**
 * Reads and writes sessions on disk.
 *
 * A session is a folder that contains session.json, sources/, and raw.jsonl. If ncu ran, the folder
 * also contains profile.ncu-rep. At the deep level, the folder also contains deep/. A session is
 * written once and never edited.
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
/**
 * Maximum size of session.json in MiB, which is ten times the size of the largest import. Raw
 * output and deep profiles are in separate files.
 */
const mostMebibytes = 128
/** File name of ncu's own report, which Nsight Compute can open. */
export const reportFile = 'profile.ncu-rep'
/** File that marks a session as imported. session.json does not contain this information. */
const importedFile = 'imported.json'

/**
 * Returns a session.json file's text from the session's folder or the shared file. Returns null if
 * neither of them contains the session.
 */
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

/**
 * Reads, upgrades, and validates a session. Throws an error with the reason if the session is
 * damaged or was written by a newer version. Never changes the file.
 */
export async function readSession(folder: string): Promise<Session> {
  const found = await readSessionText(folder)
  if (found === null)
    throw inputError(
      message('sessions.notSession', { folder, file: sessionFile }),
      message(/\.(ncu-repz?|csv)$/i.test(folder) ? 'sessions.importFirst' : 'sessions.nameFolder'),
    )
  return parseSession(found.text, found.place)
}

/** Adds a session.json file's text to the shared file next to `target`. */
export const shareSession = (text: string, target: string): Promise<void> =>
  shareSessionRow(target, JSON.stringify(JSON.parse(text)))

/**
 * Whether an import wrote this folder. Such a session may have been measured live on another
 * machine.
 */
export const isImported = (folder: string): Promise<boolean> =>
  pathExists(join(folder, importedFile))

/** Parses the text of a session.json file. `path` is used only in error messages. */
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

/**
 * Corrects the waves in sessions from older versions, which stored 0 waves if ncu rounded the
 * number to 0.
 */
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
  /** Path of the folder that receives the files. */
  readonly path: string
  readonly reportPath: string
  addSource(file: string, text: string): Promise<void>
  addDeep(profile: DeepProfile): Promise<void>
  /** Records the file from which the session was imported. */
  markImported(from: string): Promise<void>
  /** Adds a file that is not part of the session itself, such as the location of ncu's report. */
  addNote(file: string, note: object): Promise<void>
  /**
   * Writes session.json, checks that every added file exists, and renames the folder to its final
   * name. If the final name is taken, uses a similar available name. Returns the path.
   */
  commit(session: Session): Promise<string>
  /**
   * Creates a copy of the draft at a different location. Copies raw output and ncu's report if
   * possible.
   */
  elsewhere(finalPath: string): Promise<SessionDraft>
  discard(): Promise<void>
}

/**
 * Creates a session draft. If its name is taken when the draft is committed, the draft gets a
 * similar available name.
 */
export const draftSession = (finalPath: string): Promise<SessionDraft> =>
  draftOf(resolve(finalPath), new Map())

/**
 * Creates a draft. `added` maps paths in the folder to file contents. The contents also stay in
 * memory, so that they can be written again if the folder is removed.
 */
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
    // The JSON is not indented, because indentation would double the space for thousands of
    // instructions.
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
          // Remove a partial copy, because it could be mistaken for a complete one.
          rm(target, { recursive: true, force: true }),
        )
      }
      return other
    },
    discard: () => staged.discard(),
  }
}
