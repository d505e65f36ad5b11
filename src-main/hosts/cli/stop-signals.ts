/**
 * Handles stop signals from the terminal.
 *
 * npm forwards a ^C that the terminal has already sent to the program. The program can therefore
 * receive the same ^C twice.
 */
import { note } from './output'
import { exitCodes } from '../../domain/errors'

const sameKeystrokeMs = 1000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `first` on the first stop signal and `again` on each later stop signal. */
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

/**
 * Returns a signal that aborts on the first ^C or termination signal. When the signal aborts, `now`
 * is printed. On a second ^C or termination signal, the program exits immediately.
 */
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
