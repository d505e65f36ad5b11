/** The terminal as a command meets it: questions before going on, and Ctrl-C. */
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import {
  openLadder,
  openPrograms,
  isTrustedFolder,
  trustFolder,
} from '../../services/ladder-library/open'
import { note } from './output'
import { exitCodes } from '../../domain/errors'

// Questions on the terminal: whether to go on, and whether a ladder folder is trusted.

// Asks on the terminal for a random word, so that nobody confirms out of habit.

export async function confirmed(what: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const word = randomBytes(2).toString('hex')
  const answer = await terminal.question(`${what} Type ${word} to allow this: `)
  terminal.close()
  return answer.trim() === word
}

// Shows an untrusted ladder folder on the terminal and asks before its code is built or run.

/** Without a terminal only `--trust` counts as consent; without it, the core refuses the ladder. */
export async function askTrust(
  setup: Setup,
  ladder: string,
  { trust = false }: { trust?: boolean },
): Promise<void> {
  const own = (await openPrograms(setup, ladder)) ?? (await openLadder(setup, ladder)).own
  const { folders } = setup.machine
  if (!own || (await isTrustedFolder(folders, own.folder))) return
  if (!trust) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return
    for (const file of own.files) {
      note(`──── ${file}`)
      note(await readFile(join(own.folder, file), 'utf8'))
    }
    note('────')
    const what = `What is in ${own.folder} will be built and run with your permissions, now and whenever it changes.`
    if (!(await confirmed(what))) return
  }
  await trustFolder(folders, own.folder)
}

// Stop signals. npm forwards a ^C that the terminal has already sent, so one ^C can arrive twice.

const sameKeystrokeMs = 1000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `first` on the first stop signal, and `again` on a later one. */
export function onStop(first: (signal: NodeJS.Signals) => void, again: () => void): void {
  let stoppedAt: number | null = null
  for (const signal of signals)
    process.on(signal, () => {
      if (stoppedAt === null) {
        stoppedAt = performance.now()
        first(signal)
      } else if (performance.now() - stoppedAt > sameKeystrokeMs) again()
    })
}

/** Aborts on the first ^C or termination signal and says what happens now; a second one exits at once. */
export function abortOnStop(now: string): AbortSignal {
  const controller = new AbortController()
  onStop(
    (signal) => {
      note(`\n${signal === 'SIGINT' ? 'Interrupted' : 'Terminated'}: ${now}`)
      controller.abort()
    },
    () => process.exit(exitCodes.cancelled),
  )
  return controller.signal
}
