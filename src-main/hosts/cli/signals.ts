/** Being told to stop. npm passes on a ^C that the terminal has sent already, so one ^C can come twice. */
import { exitCodes } from '../../domain/errors'
import { note } from './output'

const sameKeystrokeMs = 1000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `first` when the program is told to stop, and `again` when it is told once more later. */
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

/** Aborts at the first ^C or termination, saying what happens now; a second one ends the program at once. */
export function abortOnStop(now: string): AbortSignal {
  const controller = new AbortController()
  onStop(
    (signal) => {
      note(`\n${signal === 'SIGINT' ? 'Interrupted' : 'Ended'}: ${now}`)
      controller.abort()
    },
    () => process.exit(exitCodes.cancelled),
  )
  return controller.signal
}
