// What a fake tool is given and how it speaks, whether it is a process of its own or a call in a test's.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/** Ten hexadecimal digits made of a text, by FNV-1a twice: to load node:crypto takes a tenth of a fake's time. */
function digitsOf(text) {
  const hash = (seed) => {
    let state = seed
    for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, 0x01000193) >>> 0
    return state.toString(16).padStart(8, '0')
  }
  return (hash(0x811c9dc5) + hash(0x2166136)).slice(0, 10).toUpperCase()
}

/** Ends a fake by a signal. */
export class Died extends Error {
  constructor(signal) {
    super(`died of ${signal}`)
    this.signal = signal
  }
}

/**
 * `isProcess`: it may start children, take memory and be killed, being a process of its own.
 * @param {{ words: readonly string[], env: Record<string, string | undefined>, cwd: string, isProcess: boolean,
 *   say(text: string): unknown, complain(text: string): unknown, forever(): Promise<never>,
 *   signal?: AbortSignal }} given
 */
export function fakeCall({ words, env, cwd, isProcess, say, complain, forever, signal }) {
  const logWords = (...line) => {
    if (env.FAKE_LOG) appendFileSync(env.FAKE_LOG, `${JSON.stringify(line)}\n`)
  }
  return {
    words,
    env,
    cwd,
    isProcess,
    say,
    complain,
    forever,
    line: (event) => say(`${JSON.stringify(event)}\n`),
    path: (name) => resolve(cwd, name),
    option(name) {
      const index = words.indexOf(name)
      return index < 0 ? undefined : words[index + 1]
    },
    options: (name) => words.flatMap((word, index) => (words[index - 1] === name ? [word] : [])),
    logWords,
    logCall: (tool) => logWords(tool, ...words),
    /** The calls of a fake tool so far, its name first. */
    callsOf(tool) {
      if (!env.FAKE_LOG || !existsSync(env.FAKE_LOG)) return []
      const calls = readFileSync(env.FAKE_LOG, 'utf8').split('\n').filter(Boolean)
      return calls.map((line) => JSON.parse(line)).filter(([name]) => name === tool)
    },
    /** A rung's fault in `$FAKE_FAULTS`, `02_coalesced=hang,…`, for tests that cannot edit the source. */
    faultOf: (rung) =>
      (env.FAKE_FAULTS ?? '')
        .split(',')
        .find((word) => word.startsWith(`${rung}=`))
        ?.slice(rung.length + 1),
    /** Each machine of fakes has a GPU of its own, so that tests beside one another do not wait for it. */
    busIdOfMachine(gpu = Number.parseInt(env.CUDA_VISIBLE_DEVICES || '0')) {
      const digits = digitsOf(env.KERNEL_LADDER_CACHE ?? '')
      return `${digits.slice(0, 8)}:${digits.slice(8, 10)}:${gpu.toString(16).padStart(2, '0').toUpperCase()}.0`
    },
    die(by) {
      throw new Died(by)
    },
    pause: (ms) => setTimeout(ms, undefined, { signal }),
  }
}

/** Runs a fake as the program that a test has put on PATH. */
export async function asProgram(main) {
  const call = fakeCall({
    words: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    isProcess: true,
    say: (text) => process.stdout.write(text),
    complain: (text) => process.stderr.write(text),
    /** As long as the one that started it is there. */
    forever: () =>
      new Promise(() => {
        setInterval(() => {
          try {
            const owner = call.option('--owner-pid')
            if (owner !== undefined) process.kill(Number(owner), 0)
          } catch {
            process.exit(1)
          }
        }, 200)
      }),
  })
  try {
    process.exit(await main(call))
  } catch (error) {
    if (!(error instanceof Died)) throw error
    process.kill(process.pid, error.signal)
  }
}

/** Writes a program that is the fake of that name, one of tool.mjs. */
export const writeFake = (path, name) =>
  writeFileSync(
    path,
    `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, 'tool.mjs')}" ${name} "$@"\n`,
    { mode: 0o755 },
  )

/**
 * Puts the tools of a machine into a folder, which is made; returns it.
 * @param {string} folder
 * @param {readonly string[]} without
 */
export function putFakes(folder, without = []) {
  mkdirSync(folder, { recursive: true })
  for (const tool of ['nvcc', 'ncu', 'nvidia-smi', 'compute-sanitizer'])
    if (!without.includes(tool)) writeFake(join(folder, tool), tool)
  return folder
}
