// @ts-check
/**
 * Provides helpers for this repository: its root, the supported versions of Node.js, and messages.
 * Each message is one line on stderr, because stdout is reserved for the program.
 */
import { dirname, resolve, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** @param {string} line */
export const say = (line) => {
  process.stderr.write(`${line}\n`)
}

/** An error that the user can fix. The user sees the error's message without a stack trace. */
export class PlainError extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode] 3 if a requirement is missing on this machine
   */
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Returns whether the dependencies support the given Node.js version, according to `engines` in
 * package.json.
 * @param {string} version
 */
export const isSupportedNode = (version) => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major >= 24 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)
}

/**
 * @param {() => Promise<number | undefined>} main returns the exit code, or undefined to leave it
 * unchanged
 */
export async function runScript(main) {
  try {
    if (!isSupportedNode(process.version))
      throw new PlainError(
        `Node.js 20.19 or newer is required (20, 22, or 24 and newer). This is ${process.version}.`,
        3,
      )
    const code = await main()
    if (code !== undefined) process.exitCode = code
  } catch (error) {
    if (!(error instanceof PlainError)) throw error
    say(error.message)
    process.exitCode = error.exitCode
  }
}

/**
 * Node.js options for a program that runs for about a second. Without these options, V8's
 * optimizing compilers and garbage collector use other cores, which does not pay off in such a
 * short run. Node.js versions before 24 do not support the options for invocation counts.
 */
export const shortLived = [
  ...['--single-threaded', '--min-semi-space-size=64', '--max-semi-space-size=64'],
  '--initial-old-space-size=1000',
  ...(Number.parseInt(process.versions.node, 10) >= 24
    ? ['--invocation-count-for-maglev=4000', '--invocation-count-for-turbofan=30000']
    : []),
]

/**
 * Node.js options for a tool that processes many files and keeps the results in memory. With the
 * default options, the tool spends up to a third of its time on garbage collection, although there
 * is little garbage.
 */
export const roomyHeap = ['--max-semi-space-size=64', '--initial-old-space-size=1000']

/**
 * @param {NodeJS.ProcessEnv} [extra]
 * @returns {NodeJS.ProcessEnv} the environment of a tool from node_modules
 */
export function toolEnv(extra = {}) {
  const path = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  const bin = join(root, 'node_modules/.bin')
  return { ...process.env, [path]: `${bin}${delimiter}${process.env[path] ?? ''}`, ...extra }
}

/**
 * Returns the npm command. If npm started this script, the command runs the same npm.
 * @param {NodeJS.ProcessEnv} [env]
 */
export function npmCommand(env = process.env) {
  const cli = env['npm_execpath']
  const node = env['npm_node_execpath'] ?? process.execPath
  if (cli !== undefined && /npm-cli\.[cm]?js$/.test(cli))
    return { file: node, args: [cli], shell: false }
  return process.platform === 'win32'
    ? { file: 'npm.cmd', args: [], shell: true }
    : { file: 'npm', args: [], shell: false }
}
