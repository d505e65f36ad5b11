// @ts-check
/** Opens the UI in a window if possible, otherwise serves it on loopback. */
import { ensureBuilt, targets } from './lib/build.mjs'
import { runChild, runCli } from './lib/child.mjs'
import { neverStarted, obtainElectron, whyServe } from './lib/electron.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root, runScript, say } from './lib/project.mjs'

const args = process.argv.slice(2)

/** @param {import('./lib/electron.mjs').Circumstances['electron']} electron */
const reason = (electron) =>
  whyServe({
    platform: process.platform,
    env: process.env,
    uid: process.getuid?.(),
    args,
    electron,
  })

/** @returns {Promise<number | string>} an exit code, or the reason why no window opened */
async function openWindow() {
  const early = reason('unknown')
  if (early !== undefined) return early
  const electron = await obtainElectron()
  if (electron === undefined) return reason('missing') ?? ''
  await ensureBuilt(['electron'])
  const env = { ...process.env }
  delete env['ELECTRON_RUN_AS_NODE']
  const startedAt = Date.now()
  const { code } = await runChild(electron, [root, ...args], { env })
  const ended = { code, seconds: (Date.now() - startedAt) / 1000 }
  return neverStarted(ended) ? (reason('broken') ?? code) : code
}

await runScript(async () => {
  await ensureInstalled()
  const outcome = await openWindow()
  if (typeof outcome === 'number') return outcome
  await ensureBuilt(['renderer', 'report', 'checkout'])
  say(outcome)
  return runCli(targets.checkout.outputs[0], ['serve', ...args])
})
