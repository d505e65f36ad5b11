// @ts-check
/**
 * Creates a folder with all files that run.sh needs on a machine with a GPU: `node
 * test/gpu/instructions/build.mjs FOLDER`. The programs are compiled by the local nvcc. The trials
 * are created from test/captures/sass.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('Name a folder.')
mkdirSync(folder, { recursive: true })
const here = import.meta.dirname

/** @param {string[]} words */
const nvcc = (...words) =>
  execFileSync('nvcc', ['-arch=sm_90a', '-std=c++17', ...words], {
    stdio: ['ignore', 'inherit', 'ignore'],
  })

for (const name of ['template', 'mufu'])
  nvcc('-cubin', '-o', join(folder, `${name}.cubin`), join(here, `${name}.cu`))
for (const name of ['runner', 'mufu', 'products', 'counters'])
  nvcc('-O2', '-lineinfo', '-cudart', 'static', '-o', join(folder, name), join(here, `${name}.cu`))

// sin.approx and cos.approx first multiply by 1 / 2π. Patch the factor 1 / 2π to 1, so that MUFU
// gets the unscaled number.
const cubin = readFileSync(join(folder, 'mufu.cubin'))
const turn = Buffer.from([0x83, 0xf9, 0x22, 0x3e])
let changed = 0
for (let at = cubin.indexOf(turn); at >= 0; at = cubin.indexOf(turn, at + 4), changed++)
  cubin.writeFloatLE(1, at)
if (changed !== 2) throw new Error(`${changed} multiplications by 1 / 2π, not 2`)
writeFileSync(join(folder, 'mufu.cubin'), cubin)

writeFileSync(join(folder, 'patterns.txt'), execFileSync('python3', [join(here, 'patterns.py')]))
for (const name of ['pack.py', 'run.sh']) copyFileSync(join(here, name), join(folder, name))
/** @type {{ module: typeof import('./batch.ts') }} */
const { module } = await runnerImport(join(here, 'batch.ts'))
module.writeBatch(join(folder, 'template.cubin'), folder)
