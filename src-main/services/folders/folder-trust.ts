/**
 * Stores which ladder folders the user trusts, because their code is built and run with the user's
 * permissions.
 *
 * A folder that is not shipped is used only after the user confirms. Trust applies to the folder,
 * not to its content, because users edit their ladders.
 */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Folders } from '../../adapters/machine/machine'
import { jsonFile, type JsonFile } from '../../adapters/disk/json-file'
import { shownPath, type LadderFolder } from '../../adapters/catalog/ladder-folder'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

const TrustFile = z.array(z.object({ folder: z.string(), since: z.string() }))

const trusted = ({ ladders }: Folders): JsonFile<z.infer<typeof TrustFile>> =>
  jsonFile(join(ladders, 'trusted.json'), TrustFile, [])

export async function isTrustedFolder(folders: Folders, folder: string): Promise<boolean> {
  const real = await realpath(folder)
  return (await trusted(folders).read()).some((entry) => entry.folder === real)
}

/**
 * Marks the folder as trusted. Called after the user has reviewed and allowed the folder or created
 * it with this program.
 */
export async function trustFolder(folders: Folders, folder: string): Promise<void> {
  const real = await realpath(folder)
  await trusted(folders).change((known) => [
    ...known.filter((entry) => entry.folder !== real),
    { folder: real, since: new Date().toISOString() },
  ])
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
