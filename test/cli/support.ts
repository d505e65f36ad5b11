/**
 * Runs the command line. `run` calls the CLI in the test's process with in-process fake tools.
 * `runBundle` and `start` run the bundled program in a separate process, as a user would.
 */
import { spawn } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { shortLived } from '../../scripts/lib/project.mjs'
import { runIn } from '../hosts/cli/support'
import { putFakes } from '../fakes/program.mjs'

export const bundle = join(import.meta.dirname, '../../dist/cli/kernel-ladder.mjs')

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  pid: number
  /** Resolves with all output once a given text has appeared on stderr or stdout. */
  says(text: string): Promise<string>
  signal(signal: NodeJS.Signals): void
  finished: Promise<Finished>
}

export function start(
  args: readonly string[],
  env: Record<string, string> = {},
  file = bundle,
): Running {
  const child = spawn(process.execPath, [...shortLived, file, ...args], {
    env: { ...process.env, KERNEL_LADDER_PATH_ONLY: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const waiting: { text: string; done: (all: string) => void }[] = []
  const look = (): void => {
    for (const wait of [...waiting])
      if (stdout.includes(wait.text) || stderr.includes(wait.text)) {
        waiting.splice(waiting.indexOf(wait), 1)
        wait.done(stdout + stderr)
      }
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    look()
  })
  return {
    pid: child.pid!,
    says: (text) =>
      new Promise((done) => {
        waiting.push({ text, done })
        look()
      }),
    signal: (signal) => child.kill(signal),
    finished: new Promise((done) => {
      child.on('close', (code) => {
        done({ code, stdout, stderr })
      })
    }),
  }
}

export const runBundle = (
  args: readonly string[],
  env: Record<string, string> = {},
  file = bundle,
): Promise<Finished> => start(args, env, file).finished

export const run = (
  args: readonly string[],
  env: Record<string, string> = {},
  kernelsDir?: string,
): Promise<Finished> =>
  runIn(
    {
      env: { KERNEL_LADDER_PATH_ONLY: '1', ...env },
      ...(kernelsDir === undefined ? {} : { kernelsDir }),
    },
    ...args,
  )

/** Returns an environment with the fake tools on PATH and with folders below `dir`. */
export const fakeTools = (dir: string): Record<string, string> => ({
  PATH: [putFakes(join(dir, 'fakes')), dirname(process.execPath), '/usr/bin', '/bin'].join(
    delimiter,
  ),
  KERNEL_LADDER_CACHE: join(dir, 'cache'),
  KERNEL_LADDER_DATA: dir,
})
