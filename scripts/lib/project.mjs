// @ts-check
/** The repository's location, and messages: one line each on stderr, because stdout is the program's. */
import { dirname, resolve } from 'node:path'
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
