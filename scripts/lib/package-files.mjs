// @ts-check
/**
 * Files that ship with the programs in addition to their code.
 *
 * Other scripts pack these files, copy them, and use them to detect stale builds.
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
 * Folders packed into the one-file program (scripts/vite). The program uses the same paths in every
 * format.
 */
export const packedFolders = [
  'cuda-kernels',
  'resources/gpus',
  'resources/recordings',
  'resources/templates',
  'resources/gpus',
  'resources/apparmor',
  'out/renderer',
  'out/report',
]

/**
 * Files of the npm package, which the program reads in place as in a checkout
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
