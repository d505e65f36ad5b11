// @ts-check
/**
 * `npm run lint [-- --fix]`: Oxlint over everything, and ESLint for what only Vue's own rules know. Oxlint has no
 * types for components, so it is given their scripts as modules, which lie at the same lines.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'vue/compiler-sfc'
import { runChild } from './lib/child.mjs'
import { roomyHeap, toolEnv, root, runScript } from './lib/project.mjs'
import { componentPaths } from './lib/package-files.mjs'

const scripts = '.cache/vue-scripts'

/** @param {string} text a component */
function scriptOf(text) {
  const { script, scriptSetup } = parse(text, { ignoreEmpty: true }).descriptor
  let module = ''
  for (const block of [script, scriptSetup])
    if (block !== null && block !== undefined)
      module =
        module.padEnd(module.length + block.loc.start.line - module.split('\n').length, '\n') +
        block.content
  return `${module}\nexport {}\n`
}

/** Relative imports are looked up beside the script first, then where its component is. */
const tsconfig = {
  extends: '../../tsconfig.web.json',
  compilerOptions: { rootDirs: ['.', '../..'] },
  include: ['**/*.ts', '../../src-renderer/**/*.d.ts'],
  exclude: [],
}

/** @returns {string[]} the paths of the modules */
function writeScripts() {
  rmSync(join(root, scripts), { recursive: true, force: true })
  mkdirSync(join(root, scripts), { recursive: true })
  writeFileSync(join(root, scripts, 'tsconfig.json'), JSON.stringify(tsconfig))
  return componentPaths(root).map((component) => {
    const path = join(scripts, `${component}.ts`)
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), scriptOf(readFileSync(join(root, component), 'utf8')))
    return path
  })
}

/** @param {string} tool its program in node_modules @param {string[]} args */
const passes = async (tool, args) => {
  const words = [...roomyHeap, join('node_modules', tool), ...args]
  return (await runChild(process.execPath, words, { env: toolEnv() })).code === 0
}

await runScript(async () => {
  const fix = process.argv.slice(2)
  const oxlint = await passes('oxlint/bin/oxlint', ['.', ...writeScripts(), ...fix])
  // Of each component by itself, so that what was found of an unchanged one still holds.
  const cache = ['--cache', '--cache-strategy=content', '--cache-location=.cache/eslint.json']
  const eslint = await passes('eslint/bin/eslint.js', [
    ...['--max-warnings=0', 'src-renderer', ...cache, ...fix],
  ])
  return oxlint && eslint ? 0 : 1
})
