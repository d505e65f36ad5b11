// @ts-check
/** What goes with the programs besides their code: what is packed, what is copied, and what a build is stale without. */

/** Into the one-file program (vite-plugins.ts); the program looks for them by these paths everywhere. */
export const packedFolders = [
  'cuda-kernels',
  'resources/recordings',
  'resources/templates',
  'out/renderer',
  'out/report',
]

/** Into the npm package, read in place as in a checkout (src-main/adapters/kernels/assets.ts). */
export const packageFiles = [
  ...packedFolders,
  'out/main',
  'out/preload',
  'docs',
  'README.md',
  'LICENSE',
]
