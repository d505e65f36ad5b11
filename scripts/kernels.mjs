// @ts-check
/**
 * `npm run kernels [-- GPU]` compiles every rung of every shipped ladder with nvcc for one GPU
 * (default: H200), without running any rung.
 *
 * `npm run kernels -- ship` compiles the kernels that a machine without nvcc emulates, and writes
 * them to resources/builds.
 * `npm run kernels -- same REVISION [LADDER]` lists the rungs whose machine code differs from a git
 * revision.
 * `npm run kernels -- same recordings` compares the machine code with the recordings and saves the
 * result next to them.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { ensureBuilt, targets } from './lib/build.mjs'
import { runChild } from './lib/child.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

const [gpu = 'h200', revision, ladder] = process.argv.slice(2)
const program = join(root, targets.cli.outputs[0])
// Don't save these sessions in the user's store.
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

/**
 * Compares machine code. The exit code is 1 if the machine code of a rung changed, because its
 * recordings then measured different code.
 */
async function compareCode() {
  if (revision === undefined) throw new PlainError('Name a git revision: same REVISION.', 2)
  /** @type {{ module: typeof import('./lib/same-code.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/same-code.ts'))
  if (revision === 'recordings') {
    const recordings = join(root, 'resources/recordings')
    const { same, other } = await module.sameAsRecorded({
      ...{ kernels: join(root, 'cuda-kernels'), recordings, cache: join(root, '.cache/same-code') },
    })
    writeFileSync(join(recordings, 'same-code.json'), `${JSON.stringify(same, null, 2)}\n`)
    for (const { recording, rung } of other) process.stdout.write(`${recording} ${rung}: changed\n`)
    return other.length > 0 ? 1 : 0
  }
  const rows = await module.sameCode({
    kernels: join(root, 'cuda-kernels'),
    revision,
    cache: join(root, '.cache/same-code'),
    ...(ladder === undefined ? {} : { only: ladder }),
  })
  for (const { ladder: id, rung, verdict } of rows)
    if (verdict !== 'same') process.stdout.write(`${id} ${rung}: ${verdict}\n`)
  const count = rows.filter(({ verdict }) => verdict === 'same').length
  say(`${count} of ${rows.length} rungs have the same machine code as at ${revision}.`)
  return rows.some(({ verdict }) => verdict === 'changed' || verdict === 'broken') ? 1 : 0
}

await runScript(async () => {
  await ensureInstalled()
  if (gpu === 'ship') return ship()
  if (gpu === 'same') return compareCode()
  await ensureBuilt(['cli'])
  /** @type {{ ladders: { id: string }[] }} */
  const { ladders } = JSON.parse(
    execFileSync(process.execPath, [program, 'ladders', '--json'], { encoding: 'utf8', env }),
  )
  /** @type {string[]} */
  const failed = []
  for (const { id } of ladders) {
    const words = ['run', '--ladder', id, '--target', `static:${gpu}`]
    const { code } = await runChild(process.execPath, [program, ...words], { env })
    if (code !== 0) failed.push(id)
  }
  if (failed.length > 0) say(`nvcc could not build every rung of ${failed.join(', ')}.`)
  return failed.length > 0 ? 1 : 0
})
