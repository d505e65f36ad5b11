// @ts-check
/**
 * Makes dist/package, the folder that is published: the programs and the library with everything they import bundled,
 * and beside them the files that they read. Nothing is installed with it. Run by scripts/lib/build.mjs.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { root } from './project.mjs'

const folder = join(root, 'dist/package')

/** Read in place, as in a checkout (src-main/adapters/kernels/assets.ts). */
const copied = [
  'cuda-kernels',
  'resources/recordings',
  'resources/templates',
  'out/renderer',
  'out/report',
  'out/main',
  'out/preload',
  'LICENSE',
]

/** Profiler reports are large, and their numbers are in the recording's raw output. */
const isLeftOut = (/** @type {string} */ path) => /\.(ncu-rep|map|test\.ts)$/.test(path)

const { name, version, description, license, engines } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

const manifest = {
  name,
  version,
  description,
  license,
  keywords: ['cuda', 'gpu', 'kernel', 'profiler', 'nsight-compute', 'ncu', 'ncu-rep', 'mcp'],
  type: 'module',
  engines,
  bin: { 'kernel-ladder': 'lib/kernel-ladder.js' },
}

rmSync(folder, { recursive: true, force: true })
await build({ configFile: join(root, 'vite.package.config.ts'), root, logLevel: 'warn' })
for (const path of copied)
  cpSync(join(root, path), join(folder, path), {
    recursive: true,
    filter: (source) => !isLeftOut(source),
  })
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
