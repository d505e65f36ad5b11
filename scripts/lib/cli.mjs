// @ts-check
import * as module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runChild } from './child.mjs'
import { isModern, nodePath } from './node.mjs'
import { root } from './project.mjs'

const program = join(root, 'dist/cli/kernel-ladder.mjs')

/**
 * Runs the built command-line program. npm scripts already use the Node in node_modules, and then the
 * program takes over this process, including signals and exit code. Only the very first run, which had
 * to install that Node, uses another one.
 * @param {readonly string[]} args
 * @returns {Promise<number | undefined>} undefined if the program sets the exit code
 */
export async function runCli(args) {
  if (!isModern(process.version)) return (await runChild(nodePath(), [program, ...args])).code
  module.enableCompileCache(join(root, '.cache/compiled'))
  process.argv = [process.execPath, program, ...args]
  await import(pathToFileURL(program).href)
  return undefined
}
