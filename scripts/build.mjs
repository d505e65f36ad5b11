// @ts-check
/**
 * `npm run build [-- --force] [-- TARGET …]` builds everything that is distributed, or only the
 * named targets. After building, prints the size of the one-file program.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, targets } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

/** @typedef {import('./lib/build.mjs').TargetName} TargetName */

/** @param {string} name @returns {name is TargetName} */
const isTarget = (name) => Object.hasOwn(targets, name)

await runScript(async () => {
  const words = process.argv.slice(2)
  const names = words.filter((word) => word !== '--force')
  const unknown = names.find((name) => !isTarget(name))
  if (unknown !== undefined)
    throw new PlainError(`There is no target "${unknown}": ${Object.keys(targets).join(', ')}.`, 2)
  await ensureInstalled()
  /** @type {TargetName[]} */
  const all = ['electron', 'cli', 'package']
  const wanted = names.length > 0 ? names.filter(isTarget) : all
  await ensureBuilt(wanted, { force: words.includes('--force') })
  if (wanted.includes('cli')) {
    const file = targets.cli.outputs[0]
    const megabytes = (statSync(join(root, file)).size / 1e6).toFixed(3)
    say(`${file}: ${megabytes} MB of at most 9 MB (test/cli/cli.test.ts)`)
  }
  return 0
})
