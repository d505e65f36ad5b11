// @ts-check
/**
 * Creates dist/package, the folder that is published to npm. The package contains the programs and
 * the library, bundled with all imports, and the files that they read. The package has no
 * dependencies to install. scripts/lib/build.mjs runs this script.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { root } from './project.mjs'
import { packageFiles } from './package-files.mjs'

const folder = join(root, 'dist/package')

/**
 * Omit profiler reports, because they are large and the recording's raw output contains their
 * numbers. Omit images, because only the repository's page shows them.
 */
const isLeftOut = (/** @type {string} */ path) =>
  /\.(ncu-rep|map|test\.ts)$|[\\/]docs[\\/]images$/.test(path)

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
  man: ['man/kernel-ladder.1'],
  exports: { '.': { types: './types/index.d.ts', default: './lib/index.js' } },
}

/**
 * Writes the library's type declarations. The declarations import no other packages. Adds file
 * extensions, because Node's module resolution requires them.
 */
function writeTypes() {
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc')
  const from = join(root, '.cache/library-types/src-main/api')
  rmSync(from, { recursive: true, force: true })
  execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.library.json')])
  mkdirSync(join(folder, 'types'), { recursive: true })
  for (const file of readdirSync(from)) {
    const text = readFileSync(join(from, file), 'utf8')
    writeFileSync(
      join(folder, 'types', file),
      text.replaceAll(/ from '(\.\/[^']+)';/g, " from '$1.js';"),
    )
  }
}

rmSync(folder, { recursive: true, force: true })
await build({
  configFile: join(root, 'vite.cli.config.ts'),
  mode: 'package',
  root,
  logLevel: 'warn',
})
for (const path of packageFiles)
  cpSync(join(root, path), join(folder, path), {
    recursive: true,
    filter: (source) => !isLeftOut(source),
  })
writeTypes()
mkdirSync(join(folder, 'man'))
writeFileSync(
  join(folder, 'man/kernel-ladder.1'),
  execFileSync(process.execPath, [join(folder, 'lib/kernel-ladder.js'), '__man']),
)
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
