/**
 * Trust in a ladder folder, whose code is built and run with the user's permissions.
 *
 * A folder that did not come with the program is used only after the user has confirmed. The decision applies to the
 * folder, not to its content, because ladders are meant to be edited.
 */
import { readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Folders } from '../../adapters/machine/machine'
import { diskError, makeFolder } from '../../adapters/disk/disk'
import { shownPath, type LadderFolder } from '../../adapters/catalog/ladder-folder'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

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
