// @ts-check
/**
 * The repository: where it is, the versions of Node.js that it supports, what of it goes with the programs, and messages:
 * one line each on stderr, because stdout is the program's.
 */
import { dirname, resolve, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

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
 * The versions that the dependencies support, as in `engines` of package.json.
 * @param {string} version
 */
export const isSupportedNode = (version) => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major >= 24 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)
}

/**
 * @param {() => Promise<number | undefined>} main returns the exit code, if it is to be set
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
 * For a program that is over in a second: hardly any of its code is worth optimizing and none of its garbage worth
 * collecting, both of which V8 does on other cores. Node.js below 24 does not know the counts.
 */
export const shortLived = [
  ...['--single-threaded', '--min-semi-space-size=64', '--max-semi-space-size=64'],
  '--initial-old-space-size=1000',
  ...(Number.parseInt(process.versions.node, 10) >= 24
    ? ['--invocation-count-for-maglev=4000', '--invocation-count-for-turbofan=30000']
    : []),
]

/**
 * For a tool that goes through many files and keeps what it learns of them: up to a third of its work would be collecting a
 * heap in which there is little to collect.
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
 * The npm command: the npm that started this script, if one did.
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
