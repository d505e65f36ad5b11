// @ts-check
/**
 * The files that go with the programs besides their code.
 *
 * They are what is packed, what is copied, and what a build is stale without.
 */
import { join } from 'node:path'
import { readdirSync } from 'node:fs'

/** @param {string} base @returns {string[]} the paths of the UI's components */
export const componentPaths = (base) =>
  readdirSync(join(base, 'src-renderer'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.vue'))
    .map((path) => `src-renderer/${path}`)
    .toSorted()

/** Into the one-file program (scripts/vite); the program looks for them by these paths everywhere. */
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

/** Into the npm package, read in place as in a checkout (src-main/adapters/catalog/assets.ts). */
export const packageFiles = [
  ...packedFolders,
  'resources/builds',
  'out/main',
  'out/preload',
  'docs',
  'README.md',
  'LICENSE',
]
