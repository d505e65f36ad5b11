/** Stores recently opened ladder folders, most recent first. */
import { join } from 'node:path'
import { z } from 'zod'
import type { Folders } from '../../adapters/machine/machine'
import { jsonFile, type JsonFile } from '../../adapters/disk/json-file'

const RecentFile = z.array(z.object({ folder: z.string(), openedAt: z.string() }))

type Recent = z.infer<typeof RecentFile>[number]

/** Maximum number of folders in the list. A longer list would be hard to choose from. */
const most = 20

const recent = ({ ladders }: Folders): JsonFile<Recent[]> =>
  jsonFile(join(ladders, 'recent.json'), RecentFile, [])

export const recentFolders = (folders: Folders): Promise<Recent[]> => recent(folders).read()

const without = (known: readonly Recent[], folder: string): Recent[] =>
  known.filter((entry) => entry.folder !== folder)

export async function rememberFolder(folders: Folders, folder: string): Promise<void> {
  const opened = { folder, openedAt: new Date().toISOString() }
  await recent(folders).change((known) => [opened, ...without(known, folder)].slice(0, most))
}

export async function forgetFolder(folders: Folders, folder: string): Promise<void> {
  await recent(folders).change((known) => without(known, folder))
}
