/** The available labs by their refs: the shipped ones and any folder of the user's, their trust, and a student's saved work. */
import { resolve, join, sep } from 'node:path'
import { readFile, writeFile, lstat } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Setup, Folders } from '../../adapters/machine/machine'
import { pathExists, diskError, makeFolder, replaceFile } from '../../adapters/disk/disk'
import { readKernelLibrary } from '../../adapters/kernels/kernel-library'
import {
  readLab,
  readShippedLab,
  readShippedLabs,
  type LabFolder,
  type LabLibrary,
  labsDir,
  labFile,
} from '../../adapters/labs/library'
import { inputError, toErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { faultSentence } from '../../domain/labs/lab'
import { meantOr } from '../../domain/text/text'
import { LabAnswers, noAnswers, type LabOutcome } from '../../domain/labs/outcome'
import { sessionFolder, recordedLabs } from '../../adapters/labs/attempt'
import { recordedRef, recordingOf } from '../../contract/sessions'
import { can } from '../../domain/target/targets'

// The available labs: the shipped ones, and any folder named by the user.

export async function listLabs({ assets }: Setup): Promise<LabLibrary> {
  return readShippedLabs(await readKernelLibrary(assets.kernelsDir))
}

/** A shipped lab by its id, or the lab in a folder; throws with the available labs or the fault. */
export async function openLab({ assets }: Setup, name: string): Promise<LabFolder> {
  const library = await readKernelLibrary(assets.kernelsDir)
  const shipped = await readShippedLab(library, name)
  const [found] = shipped?.labs ?? []
  if (found) return found
  if (shipped)
    throw inputError(
      message('labs.cannotBeUsed', {
        lab: name,
        faults: shipped.faults.map(faultSentence).join(' '),
      }),
    )
  if (/[\\/]|^\.+$/.test(name) || (await pathExists(resolve(name))))
    return readLab(resolve(name), library)
  const { labs } = await readShippedLabs(library)
  throw inputError(
    message('labs.none', { lab: JSON.stringify(name) }),
    labs.length === 0
      ? message('labs.noneShips')
      : meantOr(
          name,
          labs.map(({ id }) => id),
          message('labs.list', { labs: labs.map(({ id }) => id).join(', ') }),
        ),
  )
}

// Trust in a lab. A lab is code that will be built and run, so a third-party lab is used only after the user has seen
// it in full and confirmed. The decision applies to its content: a changed lab must be confirmed again.

const TrustFile = z.array(z.object({ contentHash: z.string(), lab: z.string(), since: z.string() }))

export const trustPath = ({ labs }: Folders): string => join(labs, 'trusted.json')

const readTrust = (folders: Folders): Promise<z.infer<typeof TrustFile>> =>
  readFile(trustPath(folders), 'utf8')
    .then((text) => TrustFile.parse(JSON.parse(text)))
    // If absent or damaged, nothing is trusted.
    .catch(() => [])

export const isShipped = ({ assets }: Setup, { folder }: LabFolder): boolean =>
  folder.startsWith(labsDir(assets.kernelsDir) + sep)

export async function isTrusted(setup: Setup, lab: LabFolder): Promise<boolean> {
  if (isShipped(setup, lab)) return true
  return (await readTrust(setup.machine.folders)).some(
    ({ contentHash }) => contentHash === lab.contentHash,
  )
}

/** The user has seen it in full and allows its use. */
export async function trustLab(folders: Folders, { id, contentHash }: LabFolder): Promise<void> {
  const known = (await readTrust(folders)).filter((entry) => entry.contentHash !== contentHash)
  try {
    await makeFolder(folders.labs)
    await writeFile(
      trustPath(folders),
      `${JSON.stringify([...known, { contentHash, lab: id, since: new Date().toISOString() }], null, 2)}\n`,
      { mode: 0o600 },
    )
  } catch (error) {
    throw diskError(error, trustPath(folders), 'write')
  }
}

export async function requireTrust(setup: Setup, lab: LabFolder): Promise<void> {
  if (await isTrusted(setup, lab)) return
  throw inputError(
    message('labs.untrusted', { folder: lab.folder }),
    message('labs.trust', { folder: lab.folder }),
  )
}

// A student's saved work on a lab: the draft, answers, hints seen, and every attempt.

export const LabProgress = z.object({
  draft: z.string().nullable().default(null),
  answers: LabAnswers.default(noAnswers),
  hintsShown: z.number().int().default(0),
  solutionAsked: z.number().int().default(0),
  /** Attempts before this time belong to before the last reset. */
  since: z.string().default(''),
})
export type LabProgress = z.infer<typeof LabProgress>

/** `key` is the lab's ref, converted to a valid folder name. */
export const progressDir = ({ labs }: Folders, key: string): string =>
  join(labs, key.replace(':', '-'))
export const attemptsDir = (folders: Folders, key: string): string =>
  join(progressDir(folders, key), 'attempts')

/** `20261121-030507-1a2b`: sorts by time. */
export function newAttemptFolder(folders: Folders, key: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return join(attemptsDir(folders, key), `${stamp}-${randomBytes(2).toString('hex')}`)
}

const fileOf = (folders: Folders, key: string): string =>
  join(progressDir(folders, key), 'progress.json')

/** A damaged file is replaced by a new one; the attempts, which matter more, are stored separately. */
export const readProgress = (folders: Folders, key: string): Promise<LabProgress> =>
  readFile(fileOf(folders, key), 'utf8')
    .then((text) => LabProgress.parse(JSON.parse(text)))
    .catch(() => LabProgress.parse({}))

/** Changes are serialized; a crash leaves the old or the new state. */
const queues = new Map<string, Promise<unknown>>()

export function changeProgress(
  folders: Folders,
  key: string,
  change: (progress: LabProgress) => LabProgress,
): Promise<LabProgress> {
  const work = async (): Promise<LabProgress> => {
    const next = change(await readProgress(folders, key))
    const path = fileOf(folders, key)
    try {
      await makeFolder(progressDir(folders, key))
      await replaceFile(path, JSON.stringify(next), { mode: 0o600 })
    } catch (error) {
      throw diskError(error, path, 'write')
    }
    return next
  }
  const turn = (queues.get(key) ?? Promise.resolve()).then(work, work)
  queues.set(key, turn)
  return turn
}

// Refs of labs for a UI, and the sessions behind their attempts.

export interface NamedLab {
  ref: string
  lab: LabFolder
}

const ownPrefix = 'own:'
const foldersFile = ({ labs }: Folders): string => join(labs, 'folders.json')

const ownFolders = (folders: Folders): Promise<string[]> =>
  readFile(foldersFile(folders), 'utf8')
    .then((text) => z.array(z.string()).parse(JSON.parse(text)))
    .catch(() => [])

/** Shipped labs in order, then added ones; unreadable labs are reported as sentences. */
export async function allLabs({
  assets,
  machine,
}: Setup): Promise<{ labs: NamedLab[]; problems: Statement[] }> {
  const library = await readKernelLibrary(assets.kernelsDir)
  const shipped = await readShippedLabs(library)
  const problems: Statement[] = shipped.faults.map(faultSentence)
  const labs: NamedLab[] = shipped.labs.map((lab) => ({ ref: lab.id, lab }))
  for (const folder of await ownFolders(machine.folders))
    try {
      const lab = await readLab(folder, library)
      labs.push({ ref: `${ownPrefix}${lab.id}`, lab })
    } catch (error) {
      problems.push(message('labs.problem', { folder, why: toErrorShape(error).message }))
    }
  return { labs, problems }
}

export async function findLab(setup: Setup, ref: string): Promise<LabFolder> {
  if (!ref.startsWith(ownPrefix)) return openLab(setup, ref)
  const { labs } = await allLabs(setup)
  const found = labs.find((candidate) => candidate.ref === ref)
  if (found) return found.lab
  throw inputError(message('labs.gone', { lab: ref.slice(ownPrefix.length) }))
}

/** Adds a folder; its lab must be readable, and its id unused. */
export async function addLab(setup: Setup, folder: string): Promise<string> {
  const { assets, machine } = setup
  const path = resolve(folder)
  // A page names the path: of a folder that is no lab it learns nothing, not even whether it is there.
  const isLab = await lstat(join(path, labFile)).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isLab) throw inputError(message('labs.notLab', { folder: path, file: labFile }))
  const lab = await readLab(path, await readKernelLibrary(assets.kernelsDir))
  const ref = `${ownPrefix}${lab.id}`
  const { labs } = await allLabs(setup)
  const known = labs.find((candidate) => candidate.ref === ref)
  if (known?.lab.folder === path) return ref
  if (known)
    throw inputError(
      message('labs.taken', { lab: lab.id, folder: known.lab.folder }),
      message('labs.renameFolder'),
    )
  try {
    await makeFolder(machine.folders.labs)
    const known = await ownFolders(machine.folders)
    await writeFile(foldersFile(machine.folders), JSON.stringify([...known, path]))
  } catch (error) {
    throw diskError(error, foldersFile(machine.folders), 'write')
  }
  return ref
}

/** Prefix of a shipped outcome's ref, as the name of a recording. */
const recordedMark = 'lab.'

/** The session behind an attempt as a SessionRef; null if nothing was measured. */
export async function attemptSession(
  folders: Folders,
  key: string,
  id: string,
  { target }: LabOutcome,
): Promise<string | null> {
  if (can(target).replays)
    return target.name === 'none' ? null : recordedRef(recordedMark + target.name)
  return (await pathExists(sessionFolder(join(attemptsDir(folders, key), id))))
    ? `lab.${key.replace(':', '-')}.${id}`
    : null
}

/** The folder that a ref from `attemptSession` refers to; null for any other ref. */
export function labSessionFolder(
  { assets, machine: { folders } }: Setup,
  ref: string,
): string | null {
  const recording = recordingOf(ref)
  if (recording?.startsWith(recordedMark))
    return join(recordedLabs(assets.recordingsDir), recording.slice(recordedMark.length))
  const [, key, id] = /^lab\.(.+)\.(\d{8}-\d{6}-[0-9a-f]{4}(?:-\d+)?)$/.exec(ref) ?? []
  return key === undefined || id === undefined
    ? null
    : sessionFolder(join(attemptsDir(folders, key), id))
}
