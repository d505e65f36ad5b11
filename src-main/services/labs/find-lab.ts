/** Finds labs by reference. A lab is either shipped or in a folder that the user added. */
import { resolve, join } from 'node:path'
import { lstat } from 'node:fs/promises'
import { z } from 'zod'
import type { Setup, Folders } from '../../adapters/machine/machine'
import { pathExists } from '../../adapters/disk/disk'
import { jsonFile, type JsonFile } from '../../adapters/disk/json-file'
import { readCatalog } from '../../adapters/catalog/catalog'
import {
  readLab,
  readShippedLab,
  readShippedLabs,
  type LabFolder,
  type LabLibrary,
  labFile,
} from '../../adapters/labs/lab-folders'
import { inputError, toErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { faultSentence } from '../../domain/labs/lab'
import { meantOr } from '../../domain/text/nearest'

export async function listLabs({ assets }: Setup): Promise<LabLibrary> {
  return readShippedLabs(await readCatalog(assets.kernelsDir))
}

/**
 * Opens a shipped lab by id, or the lab in a folder. On failure, throws an error that lists the
 * available labs or explains what is wrong with the folder.
 */
export async function openLab({ assets }: Setup, name: string): Promise<LabFolder> {
  const catalog = await readCatalog(assets.kernelsDir)
  const shipped = await readShippedLab(catalog, name)
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
    return readLab(resolve(name), catalog)
  const { labs } = await readShippedLabs(catalog)
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

export interface NamedLab {
  ref: string
  lab: LabFolder
}

const ownPrefix = 'own:'
const ownFolders = ({ labs }: Folders): JsonFile<string[]> =>
  jsonFile(join(labs, 'folders.json'), z.array(z.string()), [])

/**
 * Returns the shipped labs in order, followed by added labs. Reports an error for each unreadable
 * lab.
 */
export async function allLabs({
  assets,
  machine,
}: Setup): Promise<{ labs: NamedLab[]; problems: Statement[] }> {
  const catalog = await readCatalog(assets.kernelsDir)
  const shipped = await readShippedLabs(catalog)
  const problems: Statement[] = shipped.faults.map(faultSentence)
  const labs: NamedLab[] = shipped.labs.map((lab) => ({ ref: lab.id, lab }))
  for (const folder of await ownFolders(machine.folders).read())
    try {
      const lab = await readLab(folder, catalog)
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

/** Adds a lab folder. Throws an error if the lab is unreadable or its id is taken. */
export async function addLab(setup: Setup, folder: string): Promise<string> {
  const { assets, machine } = setup
  const path = resolve(folder)
  // The path may come from a web page, and the page must not learn which other folders exist.
  const isLab = await lstat(join(path, labFile)).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isLab) throw inputError(message('labs.notLab', { folder: path, file: labFile }))
  const lab = await readLab(path, await readCatalog(assets.kernelsDir))
  const ref = `${ownPrefix}${lab.id}`
  const { labs } = await allLabs(setup)
  const known = labs.find((candidate) => candidate.ref === ref)
  if (known?.lab.folder === path) return ref
  if (known)
    throw inputError(
      message('labs.taken', { lab: lab.id, folder: known.lab.folder }),
      message('labs.renameFolder'),
    )
  await ownFolders(machine.folders).change((known) => [
    ...known.filter((one) => one !== path),
    path,
  ])
  return ref
}
