/** Refs of labs for a UI, and the sessions behind their attempts. */
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { Folders, Setup } from '../../adapters/machine/machine'
import { diskError, makeFolder, pathExists } from '../../adapters/disk/disk'
import { readKernelLibrary } from '../../adapters/kernels/kernel-library'
import { sessionFolder, recordedLabs } from '../../adapters/labs/attempt'
import { labFile, readLab, readShippedLabs, type LabFolder } from '../../adapters/labs/library'
import { recordedRef, recordingOf } from '../../contract/sessions'
import { inputError, toErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { faultSentence } from '../../domain/labs/lab'
import type { LabOutcome } from '../../domain/labs/outcome'
import { can } from '../../domain/target/targets'
import { attemptsDir } from './progress'
import { openLab } from './library'

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
