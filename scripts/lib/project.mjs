// @ts-check
/**
 * The repository: where it is, the Node that everything runs on, what of it goes with the programs, and messages: one line
 * each on stderr, because stdout is the program's.
 */
import { dirname, resolve, delimiter, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { existsSync } from 'node:fs'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** @param {string} line */
export const say = (line) => {
  process.stderr.write(`${line}\n`)
}

/** An error that the user can act on: its message is shown without a stack trace. */
export class PlainError extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode] 3 if something on this machine is missing
   */
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * @param {() => Promise<number | undefined>} main returns the exit code, if it is to be set
 */
export async function runScript(main) {
  try {
    const code = await main()
    if (code !== undefined) process.exitCode = code
  } catch (error) {
    if (!(error instanceof PlainError)) throw error
    say(error.message)
    process.exitCode = error.exitCode
  }
}

// Everything runs on the Node in node_modules, whatever version the machine has.

const modules = join(root, 'node_modules')

/** @param {string} version */
export const isModern = (version) => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 12)
}

/**
 * For a program that is over in a second: hardly any of its code is worth optimizing and none of its garbage worth
 * collecting, both of which V8 does on other cores. An older Node may not know such a count.
 */
export const shortLived =
  Number.parseInt(process.versions.node, 10) >= 24
    ? [
        ...['--single-threaded', '--min-semi-space-size=64', '--max-semi-space-size=64'],
        ...['--initial-old-space-size=1000', '--invocation-count-for-maglev=4000'],
        '--invocation-count-for-turbofan=30000',
      ]
    : []

/**
 * For a tool that goes through many files and keeps what it learns of them: up to a third of its work would be collecting a
 * heap in which there is little to collect.
 */
export const roomyHeap = ['--max-semi-space-size=64', '--initial-old-space-size=1000']

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

// What goes with the programs besides their code: what is packed, what is copied, and what a build is stale without.

/** Into the one-file program (vite-plugins.ts); the program looks for them by these paths everywhere. */
export const packedFolders = [
  'cuda-kernels',
  'resources/recordings',
  'resources/templates',
  'out/renderer',
  'out/report',
]

/** Into the npm package, read in place as in a checkout (src-main/adapters/kernels/assets.ts). */
export const packageFiles = [
  ...packedFolders,
  'out/main',
  'out/preload',
  'docs',
  'README.md',
  'LICENSE',
]
