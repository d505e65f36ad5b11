/**
 * Trust in a lab, which is code that will be built and run.
 *
 * A third-party lab is used only after the user has seen it in full and confirmed. The decision applies to its content:
 * a changed lab must be confirmed again.
 */
import { join, sep } from 'node:path'
import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Setup, Folders } from '../../adapters/machine/machine'
import { diskError, makeFolder } from '../../adapters/disk/disk'
import { labsDir, type LabFolder } from '../../adapters/labs/lab-folders'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

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
