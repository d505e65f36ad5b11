// @ts-check
import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import * as module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './project.mjs'

/**
 * @typedef {object} Ended
 * @property {number} code the exit code, 128 + n for signal n, 127 if it could not be started
 * @property {NodeJS.Signals | null} signal
 * @property {string} output its output, if kept
 */

/**
 * Returns whether SIGINT must be forwarded to a child in this process's group. If the ^C comes from
 * a terminal, it has already reached the child. The child would treat a second SIGINT as a repeated
 * ^C.
 * @param {{ isTTY?: boolean }[]} streams
 */
export const passesInterruptOn = (streams) => !streams.some((stream) => stream.isTTY)

/**
 * Runs a program to completion. Signals sent to this process are forwarded to the program. This
 * process exits after the program, so that no final output is lost.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{
 *   cwd?: string, env?: NodeJS.ProcessEnv, output?: 'shown' | 'kept', timeoutMs?: number, shell?: boolean, yields?: boolean
 * }} [options] `yields` lowers the priority of the child
 * @returns {Promise<Ended>}
 */
export function runChild(file, args, options = {}) {
  const kept = options.output === 'kept'
  const child = spawn(file, args, {
    cwd: options.cwd ?? root,
    env: options.env ?? process.env,
    stdio: kept ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    shell: options.shell ?? false,
    windowsHide: kept,
  })
  if (options.yields && child.pid !== undefined)
    try {
      setPriority(child.pid, 7)
    } catch {
      // Ignore the error. Either the process has ended, or the system does not allow changing its
      // priority.
    }
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (output += text))

  const toldAt = new Map()
  /** @param {NodeJS.Signals} signal */
  const passOn = (signal) => {
    if (signal === 'SIGINT' && !passesInterruptOn([process.stdin, process.stdout, process.stderr]))
      return
    // npm forwards signals that the whole process group has received, so the same signal may arrive
    // twice.
    const now = Date.now()
    if (now - (toldAt.get(signal) ?? 0) < 1000) return
    toldAt.set(signal, now)
    child.kill(signal)
  }
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, passOn)
  const timer = options.timeoutMs && setTimeout(() => child.kill('SIGKILL'), options.timeoutMs)

  return new Promise((done) => {
    /** @param {Ended} ended */
    const end = (ended) => {
      for (const signal of signals) process.off(signal, passOn)
      if (timer) clearTimeout(timer)
      done(ended)
    }
    child.once('error', (error) => {
      end({ code: 127, signal: null, output: output + error.message })
    })
    child.once('close', (code, signal) => {
      const bySignal = signal === null ? 1 : 128 + constants.signals[signal]
      end({ code: code ?? bySignal, signal, output })
    })
  })
}

/**
 * Runs a built command-line program inside this process. The program handles this process's signals
 * and sets its exit code.
 * @param {string} file path of the program in the repository
 * @param {readonly string[]} args
 * @returns {Promise<undefined>} because the program sets the exit code
 */
export async function runCli(file, args) {
  const program = join(root, file)
  // Node.js 20 does not have enableCompileCache.
  const { enableCompileCache } =
    /** @type {{ enableCompileCache?: (folder: string) => unknown }} */ (module)
  enableCompileCache?.(join(root, '.cache/compiled'))
  process.argv = [process.execPath, program, ...args]
  await import(pathToFileURL(program).href)
  return undefined
}
