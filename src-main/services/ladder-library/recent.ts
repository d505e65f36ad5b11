/** The ladder folders that were opened, newest first. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Folders } from '../../adapters/machine/machine'
import { diskError, makeFolder } from '../../adapters/disk/disk'
import { ladderFileIn } from '../../adapters/kernels/ladder-folder'
import { RecentFolder } from '../../contract/folders'
import { isTrustedFolder } from './trust'

const Kept = RecentFolder.omit({ exists: true, trusted: true })
type Kept = z.infer<typeof Kept>

const mostKept = 20

const recentPath = ({ ladders }: Folders): string => join(ladders, 'recent.json')

const readKept = (folders: Folders): Promise<Kept[]> =>
  readFile(recentPath(folders), 'utf8')
    .then((text) => z.array(Kept).parse(JSON.parse(text)))
    // Absent or damaged: then none was opened.
    .catch(() => [])

async function keep(folders: Folders, kept: readonly Kept[]): Promise<void> {
  try {
    await makeFolder(folders.ladders)
    await writeFile(recentPath(folders), `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
  } catch (error) {
    throw diskError(error, recentPath(folders), 'write', 'move it with KERNEL_LADDER_DATA')
  }
}

export const recentFolders = async (folders: Folders): Promise<RecentFolder[]> =>
  Promise.all(
    (await readKept(folders)).map(async (kept) => {
      const exists = (await ladderFileIn(kept.folder)) !== null
      return { ...kept, exists, trusted: exists && (await isTrustedFolder(folders, kept.folder)) }
    }),
  )

export async function rememberFolder(
  folders: Folders,
  opened: Pick<Kept, 'folder' | 'id' | 'title'>,
): Promise<void> {
  const others = (await readKept(folders)).filter(({ folder }) => folder !== opened.folder)
  const now = { ...opened, openedAt: new Date().toISOString() }
  await keep(folders, [now, ...others].slice(0, mostKept))
}

export const forgetFolder = async (folders: Folders, folder: string): Promise<void> =>
  keep(
    folders,
    (await readKept(folders)).filter((kept) => kept.folder !== folder),
  )
