// @ts-check
/** `npm run build [-- --force] [-- renderer|report|electron|cli …]`: builds everything or only the named targets. */
import { ensureBuilt, targets } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, runScript } from './lib/project.mjs'

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
  await ensureBuilt(names.length > 0 ? names.filter(isTarget) : ['electron', 'cli', 'package'], {
    force: words.includes('--force'),
  })
  return 0
})
