/**
 * Manages saved sessions without changing them. A name given by the user is stored in `label.json`
 * in the session folder. Deleted sessions move to a trash folder in the store.
 */
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import {
  diskError,
  errorCode,
  makeFolder,
  pathExists,
  readPlainFile,
  replaceFile,
} from '../disk/disk'
import { readSession } from './session-store'

const labelFile = 'label.json'
const Label = z.object({ schema: z.literal(1), title: z.string() })

/**
 * Returns the name given by the user. Returns null if the session has no such name or the file is
 * unreadable.
 */
export async function readTitle(folder: string): Promise<string | null> {
  try {
    return Label.parse(JSON.parse(await readPlainFile(join(folder, labelFile)))).title
  } catch {
    return null
  }
}

export async function writeTitle(folder: string, title: string | null): Promise<void> {
  const path = join(folder, labelFile)
  try {
    if (title === null) return await rm(path, { force: true })
    await replaceFile(path, `${JSON.stringify({ schema: 1, title })}\n`)
  } catch (error) {
    throw diskError(error, path, 'write')
  }
}

/** Returns the trash folder, which is hidden from the session list and from `ls`. */
const trashOf = (store: string): string => join(store, '.trash')
const keptDays = 30
const keptMs = keptDays * 24 * 3600 * 1000

interface Trashed {
  /**
   * Name of the trash entry, `<milliseconds since 1970>~<name>`. The time of deletion distinguishes
   * deleted sessions with the same name.
   */
  entry: string
  name: string
  deletedAtMs: number
}

/** Returns deleted sessions, newest first. */
async function listTrash(store: string): Promise<Trashed[]> {
  const entries = await readdir(trashOf(store)).catch(() => [])
  return entries
    .flatMap((entry) => {
      const [, time, name] = /^(\d{1,15})~(.+)$/.exec(entry) ?? []
      return time && name ? [{ entry, name, deletedAtMs: Number(time) }] : []
    })
    .sort((a, b) => b.deletedAtMs - a.deletedAtMs)
}

/** Moves a session to the trash. Throws an input error if the session does not exist. */
export async function moveToTrash(store: string, name: string): Promise<void> {
  const folder = join(store, name)
  try {
    await makeFolder(trashOf(store))
    await rename(folder, join(trashOf(store), `${Date.now()}~${name}`))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw inputError(message('sessions.none', { session: name }))
    throw diskError(error, folder, 'delete')
  }
}

/** Restores the most recently deleted session with the given name. */
export async function restoreFromTrash(store: string, name: string): Promise<void> {
  const found = (await listTrash(store)).find((trashed) => trashed.name === name)
  if (!found)
    throw inputError(
      message('sessions.notDeleted', { session: name }),
      message('sessions.keptDays', { days: keptDays }),
    )
  const folder = join(store, name)
  if (await pathExists(folder))
    throw inputError(
      message('sessions.nameTaken', { session: name }),
      message('sessions.deleteFirst'),
    )
  await rename(join(trashOf(store), found.entry), folder).catch((error: unknown) => {
    throw diskError(error, folder, 'restore')
  })
}

interface TrashedSession {
  name: string
  title: string | null
  deletedAt: string
}

/**
 * Returns the sessions that can be restored, most recently deleted first. If several sessions have
 * the same name, only the most recently deleted one can be restored.
 */
export async function listDeleted(store: string): Promise<TrashedSession[]> {
  const found = await listTrash(store)
  const last = found.filter(
    ({ name }, index) => found.findIndex((other) => other.name === name) === index,
  )
  return Promise.all(
    last.map(async ({ entry, name, deletedAtMs }) => {
      const folder = join(trashOf(store), entry)
      const title =
        (await readTitle(folder)) ??
        (await readSession(folder).then(
          ({ ladder }) => ladder.title,
          () => null,
        ))
      return { name, title, deletedAt: new Date(deletedAtMs).toISOString() }
    }),
  )
}

/** Permanently removes sessions that were deleted more than thirty days ago. */
export async function sweepTrash(store: string, nowMs = Date.now()): Promise<void> {
  for (const { entry, deletedAtMs } of await listTrash(store))
    if (nowMs - deletedAtMs > keptMs)
      await rm(join(trashOf(store), entry), { recursive: true, force: true })
}
