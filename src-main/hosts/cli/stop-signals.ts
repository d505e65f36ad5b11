/**
 * Stop signals of the terminal.
 *
 * npm forwards a ^C that the terminal has already sent, so one ^C can arrive twice.
 */
import { note } from './output'
import { exitCodes } from '../../domain/errors'

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

/** Aborts on the first ^C or termination signal and prints `now`; a second one exits at once. */
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
