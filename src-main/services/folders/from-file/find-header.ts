/** Searches for an included header that the compiler did not find. */
import { readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pathExists } from '../../../adapters/disk/disk'

/**
 * The search starts this many levels above the file's folder, or at the root of the source tree if
 * that root is nearer.
 */
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

/**
 * Returns the absolute path of a nearby include directory that contains `header`, or null if there
 * is none.
 */
export async function findHeader(file: string, header: string): Promise<string | null> {
  const folders = [await rootOf(dirname(file))]
  // Search breadth first, because the result must be the folder nearest to the root.
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

/** Formats a folder for a command line. Nearby folders are relative to the current folder. */
export const asOption = (folder: string): string => {
  const near = relative(process.cwd(), folder)
  return near === '' ? '.' : near.startsWith('../../..') ? folder : near
}
