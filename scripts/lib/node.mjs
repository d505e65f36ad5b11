// @ts-check
/** Everything runs on the Node in node_modules, whatever version the machine has. */
import { existsSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { root } from './project.mjs'

const modules = join(root, 'node_modules')

/** @param {string} version */
export const isModern = (version) => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 12)
}

export function nodePath() {
  const names = [
    `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`,
    `node-bin-${process.platform}-${process.arch}`,
  ]
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const installed = names.map((name) => join(modules, name, 'bin', file)).find(existsSync)
  return installed ?? process.execPath
}

/**
 * @param {NodeJS.ProcessEnv} [extra]
 * @returns {NodeJS.ProcessEnv} the environment of a tool from node_modules
 */
export function toolEnv(extra = {}) {
  const path = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  const bin = join(modules, '.bin')
  return { ...process.env, [path]: `${bin}${delimiter}${process.env[path] ?? ''}`, ...extra }
}

/**
 * The npm command. Installing replaces node_modules, so npm must then run on a Node from elsewhere.
 * @param {NodeJS.ProcessEnv} [env]
 */
export function npmCommand(env = process.env) {
  const cli = env['npm_execpath']
  const node = env['npm_node_execpath'] ?? process.execPath
  if (cli !== undefined && /npm-cli\.[cm]?js$/.test(cli) && !node.startsWith(modules + sep))
    return { file: node, args: [cli], shell: false }
  return process.platform === 'win32'
    ? { file: 'npm.cmd', args: [], shell: true }
    : { file: 'npm', args: [], shell: false }
}
