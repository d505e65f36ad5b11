/** Opens a ladder by what the user calls it, the id of a shipped one or a folder; which folders are trusted, and which were opened recently. */
import { readFile, realpath, writeFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Folders, Setup } from '../../adapters/machine/machine'
import { diskError, makeFolder, pathExists } from '../../adapters/disk/disk'
import {
  shownPath,
  type LadderFolder,
  readLadderFolder,
} from '../../adapters/kernels/ladder-folder'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { readKernelLibrary, type KernelLibrary } from '../../adapters/kernels/kernel-library'
import { readProgramFolder, type ProgramFolder } from '../../adapters/kernels/program-folder'
import { findLadder } from '../catalog/resolve'

// Trust in a ladder folder. Its code is built and run with the user's permissions, so a folder that did not come with
// the program is used only after the user has confirmed. The decision applies to the folder, not to its content,
// because ladders are meant to be edited.

const TrustFile = z.array(z.object({ folder: z.string(), since: z.string() }))

const trustPath = ({ ladders }: Folders): string => join(ladders, 'trusted.json')

const readTrust = (folders: Folders): Promise<z.infer<typeof TrustFile>> =>
  readFile(trustPath(folders), 'utf8')
    .then((text) => TrustFile.parse(JSON.parse(text)))
    // If absent or damaged, nothing is trusted.
    .catch(() => [])

export async function isTrustedFolder(folders: Folders, folder: string): Promise<boolean> {
  const real = await realpath(folder)
  return (await readTrust(folders)).some((entry) => entry.folder === real)
}

/** The user has reviewed it and allows it, or has created it here. */
export async function trustFolder(folders: Folders, folder: string): Promise<void> {
  const real = await realpath(folder)
  const others = (await readTrust(folders)).filter((entry) => entry.folder !== real)
  const known = [...others, { folder: real, since: new Date().toISOString() }]
  try {
    await makeFolder(folders.ladders)
    await writeFile(trustPath(folders), `${JSON.stringify(known, null, 2)}\n`, { mode: 0o600 })
  } catch (error) {
    throw diskError(error, trustPath(folders), 'write', 'data')
  }
}

export async function requireTrustedFolder(
  folders: Folders,
  { folder }: Pick<LadderFolder, 'folder'>,
): Promise<void> {
  if (await isTrustedFolder(folders, folder)) return
  throw inputError(
    message('folders.untrusted', { folder: shownPath(folder) }),
    message('folders.trust'),
  )
}

// Opens a ladder by what the user calls it: the id of a shipped one, or a folder.

export interface OpenedLadder {
  /** The library that contains the ladder. */
  library: KernelLibrary
  id: string
  /** null for a shipped ladder. */
  own: LadderFolder | null
}

const isPath = (name: string): boolean => /[\\/]|^\.+$/.test(name)

const isKnown =
  (shipped: KernelLibrary) =>
  (id: string): boolean =>
    shipped.ladders.some((known) => known.id === id) || shipped.faults.has(id)

/** Whether a name means a folder: it is a path, or there is such a folder and no such ladder. */
const isFolderName = async (name: string, shipped: KernelLibrary): Promise<boolean> =>
  isPath(name) || (!isKnown(shipped)(name) && (await pathExists(resolve(name))))

/** The ladder of programs in a folder; null if the name means a ladder of kernels. Throws with the folder's fault. */
export async function openPrograms({ assets }: Setup, name: string): Promise<ProgramFolder | null> {
  const shipped = await readKernelLibrary(assets.kernelsDir)
  return (await isFolderName(name, shipped)) ? readProgramFolder(name, isKnown(shipped)) : null
}

/** Throws with the available ladders, or with the folder's fault. */
export async function openLadder({ assets }: Setup, name: string): Promise<OpenedLadder> {
  const shipped = await readKernelLibrary(assets.kernelsDir)
  if (await isFolderName(name, shipped)) {
    const own = await readLadderFolder(name, shipped)
    return { library: own.library, id: own.ladder.id, own }
  }
  return { library: shipped, id: findLadder(shipped, name).id, own: null }
}

/** The same, for a ladder whose code is going to be built or run. */
export async function openTrustedLadder(setup: Setup, name: string): Promise<OpenedLadder> {
  const opened = await openLadder(setup, name)
  if (opened.own) await requireTrustedFolder(setup.machine.folders, opened.own)
  return opened
}

// Recently opened ladder folders, latest first.

const RecentFile = z.array(z.object({ folder: z.string(), openedAt: z.string() }))
export type Recent = z.infer<typeof RecentFile>[number]

/** A longer list would be a history, not a choice. */
const most = 20

const recentPath = ({ ladders }: Folders): string => join(ladders, 'recent.json')

export const recentFolders = (folders: Folders): Promise<Recent[]> =>
  readFile(recentPath(folders), 'utf8')
    .then((text) => RecentFile.parse(JSON.parse(text)))
    // If absent or damaged, start with an empty list.
    .catch(() => [])

async function write(folders: Folders, recent: readonly Recent[]): Promise<void> {
  const path = recentPath(folders)
  const staged = `${path}.${randomBytes(4).toString('hex')}`
  try {
    await makeFolder(folders.ladders)
    await writeFile(staged, `${JSON.stringify(recent, null, 2)}\n`, { mode: 0o600 })
    await rename(staged, path)
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined)
    throw diskError(error, path, 'write', 'data')
  }
}

export async function rememberFolder(folders: Folders, folder: string): Promise<void> {
  const others = (await recentFolders(folders)).filter((known) => known.folder !== folder)
  await write(folders, [{ folder, openedAt: new Date().toISOString() }, ...others].slice(0, most))
}

export const forgetFolder = async (folders: Folders, folder: string): Promise<void> =>
  write(
    folders,
    (await recentFolders(folders)).filter((known) => known.folder !== folder),
  )
