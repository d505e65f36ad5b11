/** Opens a shipped ladder by its id, or the user's ladder by its folder. */
import { resolve } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { pathExists } from '../../adapters/disk/disk'
import { type LadderFolder, readLadderFolder } from '../../adapters/catalog/ladder-folder'
import { readCatalog, type Catalog } from '../../adapters/catalog/catalog'
import { readProgramFolder, type ProgramFolder } from '../../adapters/catalog/program-folder'
import type { Sizes } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { findLadder, taskOf } from '../catalog/resolve'
import { requireTrustedFolder } from './folder-trust'

export interface OpenedLadder {
  /** The library that contains the ladder. */
  catalog: Catalog
  id: string
  /** The user's ladder folder, or null for a shipped ladder. */
  own: LadderFolder | null
}

const isPath = (name: string): boolean => /[\\/]|^\.+$/.test(name)

const isKnown =
  (shipped: Catalog) =>
  (id: string): boolean =>
    shipped.ladders.some((known) => known.id === id) || shipped.faults.has(id)

/**
 * Whether a name refers to a folder. True for a path, and for an existing folder if no ladder has
 * that name.
 */
const isFolderName = async (name: string, shipped: Catalog): Promise<boolean> =>
  isPath(name) || (!isKnown(shipped)(name) && (await pathExists(resolve(name))))

/**
 * Returns the ladder of programs in a folder, or null if the name refers to a ladder of kernels.
 * Throws an error if the folder is invalid.
 */
export async function openPrograms({ assets }: Setup, name: string): Promise<ProgramFolder | null> {
  const shipped = await readCatalog(assets.kernelsDir)
  return (await isFolderName(name, shipped)) ? readProgramFolder(name, isKnown(shipped)) : null
}

/**
 * Opens a ladder. On failure, throws an error that lists the available ladders or explains what is
 * wrong with the folder.
 */
export async function openLadder({ assets }: Setup, name: string): Promise<OpenedLadder> {
  const shipped = await readCatalog(assets.kernelsDir)
  if (await isFolderName(name, shipped)) {
    const own = await readLadderFolder(name, shipped)
    return { catalog: own.catalog, id: own.ladder.id, own }
  }
  return { catalog: shipped, id: findLadder(shipped, name).id, own: null }
}

/**
 * Opens a ladder to build or run its code. Throws an error if the user has not trusted the folder.
 */
export async function openTrustedLadder(setup: Setup, name: string): Promise<OpenedLadder> {
  const opened = await openLadder(setup, name)
  if (opened.own) await requireTrustedFolder(setup.machine.folders, opened.own)
  return opened
}

/** Returns a ladder's id, task, and sizes, without the data that only builds need. */
export async function chosenLadder(
  setup: Setup,
  name: string,
): Promise<{ id: string; task: Task; sizes: readonly Sizes[] }> {
  const { catalog, id } = await openLadder(setup, name)
  const file = findLadder(catalog, id)
  return { id, task: taskOf(catalog, file), sizes: file.sizes }
}
