// @ts-check
/**
 * `npm run lint [-- --fix]` runs Oxlint on all code, and ESLint for Vue's own rules. Oxlint cannot
 * resolve types in components. The components' scripts are therefore linted as modules with the
 * same line numbers.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'vue/compiler-sfc'
import { runChild } from './lib/child.mjs'
import { roomyHeap, toolEnv, root, runScript } from './lib/project.mjs'
import { componentPaths } from './lib/package-files.mjs'

const scripts = '.cache/vue-scripts'

/** @param {string} text of a component */
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

/** Relative imports are first resolved from the script and then from its component. */
const tsconfig = {
  extends: '../../tsconfig.web.json',
  compilerOptions: { rootDirs: ['.', '../..'] },
  include: ['**/*.ts', '../../src-renderer/**/*.d.ts'],
  exclude: [],
}

/** @returns {string[]} paths of the modules */
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

/** @param {string} tool name of a program in node_modules @param {string[]} args */
const passes = async (tool, args) => {
  const words = [...roomyHeap, join('node_modules', tool), ...args]
  return (await runChild(process.execPath, words, { env: toolEnv() })).code === 0
}

await runScript(async () => {
  const fix = process.argv.slice(2)
  const oxlint = await passes('oxlint/bin/oxlint', ['.', ...writeScripts(), ...fix])
  // ESLint checks each component separately, so cached results of unchanged components stay valid.
  const cache = ['--cache', '--cache-strategy=content', '--cache-location=.cache/eslint.json']
  const eslint = await passes('eslint/bin/eslint.js', [
    ...['--max-warnings=0', 'src-renderer', ...cache, ...fix],
  ])
  return oxlint && eslint ? 0 : 1
})
