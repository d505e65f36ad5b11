/** The available labs: the shipped ones, and any folder named by the user. */
import { resolve } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { pathExists } from '../../adapters/disk/disk'
import { readKernelLibrary } from '../../adapters/kernels/kernel-library'
import {
  readLab,
  readShippedLabs,
  type LabFolder,
  type LabLibrary,
} from '../../adapters/labs/library'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { faultSentence } from '../../domain/labs/lab'
import { meantOr } from '../../domain/text/text'

export async function listLabs({ assets }: Setup): Promise<LabLibrary> {
  return readShippedLabs(await readKernelLibrary(assets.kernelsDir))
}

/** A shipped lab by its id, or the lab in a folder; throws with the available labs or the fault. */
export async function openLab({ assets }: Setup, name: string): Promise<LabFolder> {
  const library = await readKernelLibrary(assets.kernelsDir)
  const { labs, faults } = await readShippedLabs(library)
  const shipped = labs.find(({ id }) => id === name)
  if (shipped) return shipped
  const own = faults.filter(({ file }) => file.startsWith(`${name}/`))
  if (own.length > 0)
    throw inputError(
      message('labs.cannotBeUsed', { lab: name, faults: own.map(faultSentence).join(' ') }),
    )
  if (/[\\/]|^\.+$/.test(name) || (await pathExists(resolve(name))))
    return readLab(resolve(name), library)
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
