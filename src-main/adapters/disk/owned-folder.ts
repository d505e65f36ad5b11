/**
 * Manages hidden folders that belong to a running process. A hidden folder is removed after its
 * process exits.
 *
 * Several machines and containers may share the disk, so a process id alone is ambiguous. An owner
 * file in the folder identifies the process. The process updates the file's time regularly as a
 * heartbeat.
 */
import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, readlink, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { diskError, errorCode, makeFolder } from './disk'

const ownerFile = '.owner.json'

const Owner = z.object({
  schema: z.literal(1),
  /**
   * Identifies the boot of the operating system and the pid namespace in which the process id is
   * valid. Null if unknown.
   */
  realm: z.string().nullable(),
  pid: z.number().int(),
  /**
   * The process's start time in kernel clock ticks. A later process with the same id has a later
   * start time.
   */
  started: z.string().nullable(),
  /** Host name, for information only. */
  host: z.string(),
})

type Owner = z.infer<typeof Owner>

const heartbeatMs = 60_000

/**
 * Age of the last heartbeat after which a folder is considered abandoned. The limit is long because
 * a laptop may sleep for days.
 */
const abandonedMs = 7 * 24 * 3600 * 1000

const named = /^\..+\.partial-\d+-[0-9a-f]{8}$/

const orNull = (text: Promise<string>): Promise<string | null> => text.catch(() => null)

/**
 * Returns an id for the boot of the operating system and the pid namespace. Containers made from
 * the same image on different machines may differ only in the boot id.
 */
async function ownRealm(): Promise<string | null> {
  if (process.platform !== 'linux') return `${process.platform} ${hostname()}`
  const boot = await orNull(readFile('/proc/sys/kernel/random/boot_id', 'utf8'))
  const namespace = await orNull(readlink('/proc/self/ns/pid'))
  return boot === null || namespace === null ? null : `${boot.trim()} ${namespace}`
}

/**
 * Returns a process's start time. Returns null if /proc does not exist or belongs to another pid
 * namespace.
 */
async function startOf(pid: number): Promise<string | null> {
  if ((await orNull(readlink('/proc/self'))) !== String(process.pid)) return null
  const stat = await orNull(readFile(`/proc/${pid}/stat`, 'utf8'))
  // The command name in parentheses can contain any character, so count fields after the last
  // parenthesis.
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

/**
 * Whether the process has definitely exited. Returns false for a process on another machine or in
 * another container, because its state is unknown.
 */
async function isGone(owner: Owner): Promise<boolean> {
  if (owner.realm === null || owner.realm !== (await ownRealm())) return false
  if (!isRunning(owner.pid)) return true
  const started = await startOf(owner.pid)
  return started !== null && owner.started !== null && started !== owner.started
}

/**
 * Returns the owner, or null if the owner file is missing or incomplete. The file is incomplete
 * while the folder is being created or if the disk was full.
 */
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
  // In a shared temporary folder, other users can create folders whose names have the same prefix.
  if (process.getuid && entry.uid !== process.getuid()) return false
  if (!entry.isDirectory()) return false
  const owner = await readOwner(path)
  if (owner && (await isGone(owner))) return true
  const lastSign = Math.max(entry.mtimeMs, await modifiedMs(join(path, ownerFile)))
  return Date.now() - lastSign > abandonedMs
}

/**
 * Removes folders in `parent` whose processes have exited. Skips folders that cannot be removed.
 */
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
  /** Removes the owner file, so that the folder is kept after the process exits. */
  disown(): Promise<void>
  /**
   * Removes the folder and never throws an error. If files remain, a later sweep removes them after
   * this process exits.
   */
  remove(): Promise<void>
}

/** Creates a folder in `parent` that belongs to this process. First removes abandoned folders. */
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

/**
 * Creates a folder for a running tool's temporary files. The function also removes folders that
 * killed programs left behind.
 */
export async function scratchFolder(): Promise<OwnedFolder> {
  try {
    return await ownFolder(tmpdir(), 'kernel-ladder')
  } catch (error) {
    throw diskError(error, tmpdir(), 'writeTo', 'temporary')
  }
}
