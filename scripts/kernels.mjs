// @ts-check
/**
 * `npm run kernels [-- GPU]`: compiles every rung of every ladder that ships with nvcc, for one GPU (H200), without one.
 * `npm run kernels -- ship`: compiles what a machine without nvcc emulates, into resources/builds.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { ensureBuilt, targets } from './lib/build.mjs'
import { runChild } from './lib/child.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root, runScript, say } from './lib/project.mjs'

const [what = 'h200'] = process.argv.slice(2)
const program = join(root, targets.cli.outputs[0])
// Its sessions are not the user's.
const env = { ...process.env, KERNEL_LADDER_DATA: join(root, '.cache/kernels') }

async function ship() {
  /** @type {{ module: typeof import('./vite/assets.ts') }} */
  const { module: vitePlugins } = await runnerImport(join(root, 'scripts/vite/assets.ts'))
  const plugins = [vitePlugins.assetPack({ root, embed: false })]
  /** @type {{ module: typeof import('./lib/ship-builds.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/ship-builds.ts'), { plugins })
  const folders = ['cuda-kernels', 'resources/builds', '.cache/ship'].map((path) =>
    join(root, path),
  )
  const [kernels, builds, cache] = /** @type {[string, string, string]} */ (folders)
  const { failed, builds: count, bytes } = await module.shipBuilds(kernels, builds, cache)
  say(`Kept ${count} builds, ${(bytes / 1e6).toFixed(1)} MB, in resources/builds.`)
  if (failed.length > 0) say(`nvcc could not build ${failed.join(', ')}.`)
  return failed.length > 0 ? 1 : 0
}

await runScript(async () => {
  await ensureInstalled()
  if (what === 'ship') return ship()
  await ensureBuilt(['cli'])
  /** @type {{ ladders: { id: string }[] }} */
  const { ladders } = JSON.parse(
    execFileSync(process.execPath, [program, 'ladders', '--json'], { encoding: 'utf8', env }),
  )
  /** @type {string[]} */
  const failed = []
  for (const { id } of ladders) {
    const words = ['run', '--ladder', id, '--target', `static:${what}`]
    const { code } = await runChild(process.execPath, [program, ...words], { env })
    if (code !== 0) failed.push(id)
  }
  if (failed.length > 0) say(`nvcc could not build every rung of ${failed.join(', ')}.`)
  return failed.length > 0 ? 1 : 0
})
