/** Looks for a header that a file includes and the compiler did not find. */
import { readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pathExists } from '../../../adapters/disk/disk'

/** A source tree is searched from its root, or from this many folders above the file. */
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

/** The include directory near the file in which `header` is found, absolute; null if there is none. */
export async function findHeader(file: string, header: string): Promise<string | null> {
  const folders = [await rootOf(dirname(file))]
  // Breadth first, so that the nearest to the root is found.
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

/** As a user writes it, seen from the current folder. */
export const asOption = (folder: string): string => {
  const near = relative(process.cwd(), folder)
  return near === '' ? '.' : near.startsWith('../../..') ? folder : near
}
