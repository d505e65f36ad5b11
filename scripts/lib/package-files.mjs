// @ts-check
/**
 * Lists the files that ship with the programs besides their code.
 *
 * Other scripts pack and copy these files, and use them to detect stale builds.
 */
import { join } from 'node:path'
import { readdirSync } from 'node:fs'

/** @param {string} base @returns {string[]} paths of the UI's components */
export const componentPaths = (base) =>
  readdirSync(join(base, 'src-renderer'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.vue'))
    .map((path) => `src-renderer/${path}`)
    .toSorted()

/**
 * Folders that are packed into the one-file program (scripts/vite). The program uses the same paths
 * in every distribution format.
 */
export const packedFolders = [
  'cuda-kernels',
  'resources/recordings',
  'resources/templates',
  'resources/gpus',
  'resources/apparmor',
  'out/renderer',
  'out/report',
]

/**
 * Files in the npm package. As in a checkout, the program reads these files in place
 * (src-main/adapters/catalog/assets.ts).
 */
export const packageFiles = [
  ...packedFolders,
  'resources/builds',
  'out/main',
  'out/preload',
  'docs',
  'README.md',
  'LICENSE',
]
