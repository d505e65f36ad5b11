// @ts-check
/**
 * Runs the command-line program from a checkout. First installs and builds anything that is
 * missing.
 */
import { ensureBuilt, targets } from './lib/build.mjs'
import { runCli } from './lib/child.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { runScript } from './lib/project.mjs'

await runScript(async () => {
  await ensureInstalled()
  await ensureBuilt(['cli'])
  return runCli(targets.cli.outputs[0], process.argv.slice(2))
})
