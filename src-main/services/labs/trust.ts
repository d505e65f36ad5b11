/**
 * Stores which labs the user trusts, because a lab's code is built and run.
 *
 * A third-party lab is used only after the user has seen all of its content and confirmed its use.
 * Trust applies to the content, so the user must confirm a changed lab again.
 */
import { join, sep } from 'node:path'
import { z } from 'zod'
import type { Setup, Folders } from '../../adapters/machine/machine'
import { jsonFile, type JsonFile } from '../../adapters/disk/json-file'
import { labsDir, type LabFolder } from '../../adapters/labs/lab-folders'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

const TrustFile = z.array(z.object({ contentHash: z.string(), lab: z.string(), since: z.string() }))

export const trustPath = ({ labs }: Folders): string => join(labs, 'trusted.json')

const trusted = (folders: Folders): JsonFile<z.infer<typeof TrustFile>> =>
  jsonFile(trustPath(folders), TrustFile, [])

export const isShipped = ({ assets }: Setup, { folder }: LabFolder): boolean =>
  folder.startsWith(labsDir(assets.kernelsDir) + sep)

export async function isTrusted(setup: Setup, lab: LabFolder): Promise<boolean> {
  if (isShipped(setup, lab)) return true
  return (await trusted(setup.machine.folders).read()).some(
    ({ contentHash }) => contentHash === lab.contentHash,
  )
}

/** Marks the lab as trusted after the user has seen its content and allowed its use. */
export async function trustLab(folders: Folders, { id, contentHash }: LabFolder): Promise<void> {
  await trusted(folders).change((known) => [
    ...known.filter((entry) => entry.contentHash !== contentHash),
    { contentHash, lab: id, since: new Date().toISOString() },
  ])
}

export async function requireTrust(setup: Setup, lab: LabFolder): Promise<void> {
  if (await isTrusted(setup, lab)) return
  throw inputError(
    message('labs.untrusted', { folder: lab.folder }),
    message('labs.trust', { folder: lab.folder }),
  )
}
