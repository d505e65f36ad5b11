// @ts-check
/** `npm run kernels [-- GPU]`: compiles every rung of every ladder that ships with nvcc, for one GPU (H200), without one. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, targets } from './lib/build.mjs'
import { runChild } from './lib/child.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root, runScript, say } from './lib/project.mjs'

const gpu = process.argv[2] ?? 'h200'
const program = join(root, targets.cli.outputs[0])
// Its sessions are not the user's.
const env = { ...process.env, KERNEL_LADDER_DATA: join(root, '.cache/kernels') }

await runScript(async () => {
  await ensureInstalled()
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
