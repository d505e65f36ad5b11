/** Searches for an included header that the compiler did not find. */
import { readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pathExists } from '../../../adapters/disk/disk'

/** Searches a source tree from its root, or from this many folders above the file. */
const mostAbove = 3
const mostFolders = 5000

async function rootOf(folder: string): Promise<string> {
  let root = folder
  for (let above = 0; above < mostAbove && root !== dirname(root); above++) {
    if (await pathExists(join(root, '.git'))) return root
    root = dirname(root)
  }
  return root
}

/** Returns the nearby include directory that contains `header`, absolute; null if there is none. */
export async function findHeader(file: string, header: string): Promise<string | null> {
  const folders = [await rootOf(dirname(file))]
  // Breadth first, to find the folder nearest to the root.
  for (let at = 0; at < folders.length && at < mostFolders; at++) {
    const folder = folders[at]!
    if (await pathExists(join(folder, header))) return folder
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries)
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        folders.push(join(folder, entry.name))
  }
  return null
}

/** Returns a folder as a user would write it: relative to the current folder if it is near. */
export const asOption = (folder: string): string => {
  const near = relative(process.cwd(), folder)
  return near === '' ? '.' : near.startsWith('../../..') ? folder : near
}
