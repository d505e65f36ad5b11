/** Recently opened ladder folders, latest first. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Folders } from '../../adapters/machine/machine'
import { diskError, makeFolder, replaceFile } from '../../adapters/disk/disk'

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
  try {
    await makeFolder(folders.ladders)
    await replaceFile(path, `${JSON.stringify(recent, null, 2)}\n`, { mode: 0o600 })
  } catch (error) {
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
