// @ts-check
/** Opens the UI in a window, or serves it on loopback if no window can be opened. */
import { ensureBuilt, targets } from './lib/build.mjs'
import { runCli } from './lib/child.mjs'
import { mayOpenWindow, obtainElectron } from './lib/electron.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { runScript, say } from './lib/project.mjs'

/** @typedef {import('./lib/build.mjs').TargetName} TargetName */

const args = process.argv.slice(2)
const here = { platform: process.platform, env: process.env, uid: process.getuid?.(), args }

await runScript(async () => {
  await ensureInstalled()
  const trouble = mayOpenWindow(here) ? await obtainElectron() : null
  /** @type {TargetName[]} */
  const served = ['renderer', 'report', 'checkout']
  await ensureBuilt(mayOpenWindow(here) && trouble === null ? ['electron', ...served] : served)
  if (trouble === null) return runCli(targets.checkout.outputs[0], ['app', ...args])
  say(`${trouble} The UI is served here instead of in a window; \`npm start\` tries again.`)
  return runCli(targets.checkout.outputs[0], ['serve', ...args])
})
