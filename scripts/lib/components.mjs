// @ts-check
/**
 * Checks the types of Vue components with TypeScript 7, which does not support components. Vue's
 * own compiler converts each component and its template to a module. The compiler's messages are
 * then mapped back to the component.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as vue from '@vue/language-core'
import ts from 'typescript'
import { runChild } from './child.mjs'
import { root, toolEnv } from './project.mjs'
import { componentPaths } from './package-files.mjs'

/**
 * @param {string} config
 * @returns {Promise<{ code: number, output: string }>} TypeScript's messages about a project, one or more lines each
 */
export const checkTypes = (config) =>
  runChild(
    process.execPath,
    [
      join(root, 'node_modules/typescript-7/bin/tsc'),
      ...['-p', config, '--pretty', 'false'],
      // Two projects are checked in parallel. Additional threads per project would compute the same
      // types several times.
      '--singleThreaded',
    ],
    { env: toolEnv(), output: 'kept' },
  )

/** Relative imports are first resolved from the module and then from its component. */
const tsconfig = {
  extends: '../../tsconfig.web.json',
  compilerOptions: { rootDirs: ['.', '../..'] },
  include: [
    '**/*.ts',
    '../../src-renderer/**/*.ts',
    '../../test/browser/**/*.ts',
    '../../test/renderer/**/*.ts',
    '../../src-main/adapters/virtual-modules.d.ts',
  ],
  exclude: [],
}

/**
 * @typedef {object} Module
 * @property {string} component its path
 * @property {string} source
 * @property {string} code
 * @property {vue.SourceMap<vue.CodeInformation>} map
 */

/**
 * Returns whether the code is the component's module, as opposed to its styles or parts of its
 * template.
 * @param {vue.VirtualCode} code
 */
const isModule = ({ id }) => /^script_[jt]sx?$/.test(id)

/**
 * @param {string} base
 * @param {string} folder of the written modules
 * @returns {Map<string, Module>} by path
 */
function writeModules(base, folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  const config = vue.createParsedCommandLine(ts, ts.sys, join(base, 'tsconfig.web.json'))
  /** @type {vue.LanguagePlugin<string, vue.VueVirtualCode>} */
  const plugin = vue.createVueLanguagePlugin(ts, config.options, config.vueOptions, (id) => id)
  const host = { getAssociatedScript: () => undefined }
  return new Map(
    componentPaths(base).map((component) => {
      const source = readFileSync(join(base, component), 'utf8')
      const snapshot = ts.ScriptSnapshot.fromString(source)
      // Pass the module's path, because the module imports Vue's types relative to its own
      // path.
      const whole = plugin.createVirtualCode?.(join(folder, component), 'vue', snapshot, host)
      const script = whole && [...vue.forEachEmbeddedCode(whole)].find(isModule)
      if (!script) throw new Error(`${component} has no script to check.`)
      const code = script.snapshot.getText(0, script.snapshot.getLength())
      const path = join(folder, `${component}.ts`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, code)
      return [path, { component, source, code, map: new vue.SourceMap(script.mappings) }]
    }),
  )
}

/**
 * Converts a line and column to an offset in the text. Lines and columns start at 1.
 * @param {string} text
 * @param {number} line
 * @param {number} column
 */
const offsetOf = (text, line, column) =>
  text.split('\n', line - 1).reduce((sum, { length }) => sum + length + 1, column - 1)

/** @param {string} text @param {number} offset */
function placeOf(text, offset) {
  const lines = text.slice(0, offset).split('\n')
  return `${lines.length},${(lines.at(-1)?.length ?? 0) + 1}`
}

/**
 * Maps a message to its location in the component. Returns an empty list for generated code.
 * @param {Map<string, Module>} modules
 * @param {string} text
 * @returns {string[]}
 */
function told(modules, text) {
  const [, path = '', line, column, rest = '', number = ''] =
    /^(.+?)\((\d+),(\d+)\)(: \w+ TS(\d+)[^]*)$/.exec(text) ?? []
  const module = modules.get(resolve(root, path))
  if (!module) return [text]
  const { component, source, code, map } = module
  const isTold = (/** @type {vue.CodeInformation} */ { verification }) =>
    typeof verification === 'object'
      ? (verification.shouldReport?.('ts', number) ?? true)
      : verification === true
  const [found] = map.toSourceLocation(offsetOf(code, Number(line), Number(column)), isTold)
  return found ? [`${component}(${placeOf(source, found[0])})${rest}`] : []
}

/**
 * Returns the type errors of the UI and its tests.
 * @param {string} base folder with both, including `src-renderer`
 * @returns {Promise<string[]>}
 */
export async function checkComponents(base) {
  const folder = join(base, '.cache/vue-modules')
  const modules = writeModules(base, folder)
  const { code, output } = await checkTypes(join(folder, 'tsconfig.json'))
  // The compiler indents the explanations that follow a message.
  const messages = output.split(/\n(?! )/).filter((text) => text !== '')
  if (code !== 0 && messages.length === 0) return [`TypeScript ended with ${code}.`]
  return messages.flatMap((text) => told(modules, text))
}
