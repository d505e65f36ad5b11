/** Folders that appear atomically under their name or not at all, and never overwrite anything. */
import { randomBytes } from 'node:crypto'
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  utimes,
  writeFile,
  rename,
} from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join, basename, dirname } from 'node:path'
import { z } from 'zod'
import { diskError, errorCode, makeFolder, sync } from './disk'
import { inputError, type ErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'

// Hidden folders that belong to a process while it works and are removed after it is gone. Several machines and
// containers may share the disk, where a process id alone is meaningless: an owner file in the folder identifies
// the owner and is touched as long as that process lives.

const ownerFile = '.owner.json'

const Owner = z.object({
  schema: z.literal(1),
  /** Where the process id is valid: a running kernel and one of its pid namespaces; null if unknown. */
  realm: z.string().nullable(),
  pid: z.number().int(),
  /** In kernel clock ticks: another process with the same id would have started later. */
  started: z.string().nullable(),
  /** For information only. */
  host: z.string(),
})
type Owner = z.infer<typeof Owner>

const heartbeatMs = 60_000
/** Without a heartbeat for this long, a folder counts as abandoned; it is long because a laptop may sleep for days. */
const abandonedMs = 7 * 24 * 3600 * 1000

const named = /^\..+\.partial-\d+-[0-9a-f]{8}$/

const orNull = (text: Promise<string>): Promise<string | null> => text.catch(() => null)

/** Only the running kernel's id distinguishes two containers made from one image. */
async function ownRealm(): Promise<string | null> {
  if (process.platform !== 'linux') return `${process.platform} ${hostname()}`
  const boot = await orNull(readFile('/proc/sys/kernel/random/boot_id', 'utf8'))
  const namespace = await orNull(readlink('/proc/self/ns/pid'))
  return boot === null || namespace === null ? null : `${boot.trim()} ${namespace}`
}

/** null if unknown: without /proc, or with the /proc of another pid namespace. */
async function startOf(pid: number): Promise<string | null> {
  if ((await orNull(readlink('/proc/self'))) !== String(process.pid)) return null
  const stat = await orNull(readFile(`/proc/${pid}/stat`, 'utf8'))
  // The command name, in parentheses, may contain anything, so count the fields after the last parenthesis.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

async function thisProcess(): Promise<Owner> {
  const { pid } = process
  const [realm, started] = await Promise.all([ownRealm(), startOf(pid)])
  return { schema: 1, realm, pid, started, host: hostname() }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
}

/** Whether the process is certainly gone; for another machine or container that is never certain. */
async function isGone(owner: Owner): Promise<boolean> {
  if (owner.realm === null || owner.realm !== (await ownRealm())) return false
  if (!isRunning(owner.pid)) return true
  const started = await startOf(owner.pid)
  return started !== null && owner.started !== null && started !== owner.started
}

/** Null if it is missing or incomplete: the folder is just being created, or its disk was full. */
async function readOwner(folder: string): Promise<Owner | null> {
  try {
    return Owner.parse(JSON.parse(await readFile(join(folder, ownerFile), 'utf8')))
  } catch {
    return null
  }
}

const modifiedMs = (path: string): Promise<number> =>
  lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

async function isAbandoned(path: string): Promise<boolean> {
  const entry = await lstat(path)
  // In a shared temporary folder, anyone can create a folder with such a name.
  if (process.getuid && entry.uid !== process.getuid()) return false
  if (!entry.isDirectory()) return false
  const owner = await readOwner(path)
  if (owner && (await isGone(owner))) return true
  const lastSign = Math.max(entry.mtimeMs, await modifiedMs(join(path, ownerFile)))
  return Date.now() - lastSign > abandonedMs
}

/** Removes what dead processes left in `parent`. Housekeeping: what cannot be removed is silently kept. */
export async function sweepAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => []))
    if (named.test(name)) {
      const path = join(parent, name)
      if (await isAbandoned(path).catch(() => false))
        await rm(path, { recursive: true, force: true }).catch(() => undefined)
    }
}

export interface OwnedFolder {
  readonly path: string
  /** Makes it an ordinary folder, without the owner file. */
  disown(): Promise<void>
  /** Never fails: what cannot be removed now is swept after this process is gone. */
  remove(): Promise<void>
}

/** Creates a folder owned by this process in `parent`, after sweeping abandoned ones. */
export async function ownFolder(parent: string, name: string): Promise<OwnedFolder> {
  await makeFolder(parent)
  await sweepAbandoned(parent)
  const path = join(parent, `.${name}.partial-${process.pid}-${randomBytes(4).toString('hex')}`)
  const owner = join(path, ownerFile)
  await mkdir(path, { mode: 0o700 })
  const heartbeat = setInterval(() => {
    const now = new Date()
    void utimes(owner, now, now).catch(() => undefined)
  }, heartbeatMs)
  heartbeat.unref()
  const remove = async (): Promise<void> => {
    clearInterval(heartbeat)
    await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
  try {
    await writeFile(owner, `${JSON.stringify(await thisProcess())}\n`)
  } catch (error) {
    await remove()
    throw error
  }
  return {
    path,
    async disown() {
      clearInterval(heartbeat)
      await rm(owner, { force: true })
    },
    remove,
  }
}

/** For files that a tool leaves while it runs; the next call sweeps what a killed program left. */
export async function scratchFolder(): Promise<OwnedFolder> {
  try {
    return await ownFolder(tmpdir(), 'kernel-ladder')
  } catch (error) {
    throw diskError(error, tmpdir(), 'writeTo', 'temporary')
  }
}

/** A folder that is filled while hidden and then appears atomically under its name. */
export interface StagedFolder {
  /** The path to write to until `commit`. */
  readonly path: string
  /**
   * Syncs everything and renames the folder to its name, or to that name with a number if the name has been taken in
   * the meantime; returns the final path.
   */
  commit(): Promise<string>
  discard(): Promise<void>
}

/** True even for a dangling link. */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** A folder named by the user must not exist yet; names chosen by this program get a number instead. */
export async function refuseTaken(path: string): Promise<void> {
  if (await isTaken(path))
    throw inputError(message('files.exists', { file: path }), message('files.otherFolder'))
}

/** For a folder named by the user: an error if its contents ended up in another folder. */
export const takenMeanwhile = (wanted: string, folder: string): ErrorShape | null =>
  folder === wanted
    ? null
    : {
        kind: 'input',
        message: message('files.madeMeanwhile', { folder: wanted }),
        remedy: message('files.savedElsewhere', { folder }),
      }

/** Error codes of a rename onto a nonempty folder, onto a file, and onto any folder on Windows. */
const takenCodes = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM', 'EACCES']

/** If several processes request the same name at once, the rename gives it to one and the next names to the others. */
async function nameFreely(path: string, wanted: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (await isTaken(name)) continue
    try {
      await rename(path, name)
      return name
    } catch (error) {
      if (!takenCodes.includes(errorCode(error) ?? '') || !(await isTaken(name))) throw error
    }
  }
}

/**
 * Stages `wanted` in a hidden sibling folder, so that the final rename stays on one file system. What killed programs left
 * there goes, and in the temporary folder, where not every command has files of its own.
 */
export async function stageFolder(wanted: string): Promise<StagedFolder> {
  let folder: OwnedFolder
  await sweepAbandoned(tmpdir())
  try {
    folder = await ownFolder(dirname(wanted), basename(wanted))
  } catch (error) {
    throw diskError(error, wanted, 'create')
  }
  const { path } = folder
  return {
    path,
    async commit() {
      try {
        for (const entry of await readdir(path, { recursive: true, withFileTypes: true }))
          if (entry.isFile()) await sync(join(entry.parentPath, entry.name))
        await folder.disown()
        const name = await nameFreely(path, wanted)
        await sync(dirname(name))
        return name
      } catch (error) {
        throw diskError(error, wanted, 'save')
      }
    },
    discard: () => folder.remove(),
  }
}
