/** `kernel-ladder run --watch`: runs what changed at each save, and says what the change bought. */
import type { Setup } from '../../../adapters/machine/machine'
import type { RunRequest } from '../../../contract'
import type { RungChange } from '../../../contract/watch'
import { formatMs, formatRatio } from '../../../domain/metrics/units'
import { isBuiltOnly } from '../../../domain/target/targets'
import { inEnglish } from '../../../domain/text/wording'
import { startRun } from '../../../services/targets/start-run'
import type { StartRunOptions } from '../../../services/targets/saved-run'
import { watchLadder } from '../../../services/watch'
import { sessionText } from '../describe/describe-static'
import { note, printError, printText } from '../output'
import { progressPrinter } from '../progress'

const verdicts = {
  better: 'faster',
  worse: 'slower',
  same: 'no change beyond the spread',
  changed: 'changed',
  unknown: 'not known',
} as const

/** `02_tile: 1.31 ms → 0.98 ms, 1.34× as fast: faster` */
function describeChange({ rung, status, reason, before, time }: RungChange): string {
  const why = reason === undefined ? '' : ` ${inEnglish(reason)}`
  if (status !== 'ok')
    return `${rung}: ${before === null || before === status ? '' : `${before} → `}${status}.${why}`
  if (time?.aMs == null || time.bMs === null || time.speedup === null)
    return `${rung}: ${before === null ? '' : `${before} → `}ok${time?.bMs == null ? '' : `, ${formatMs(time.bMs)}`}`
  return `${rung}: ${formatMs(time.aMs)} → ${formatMs(time.bMs)}, ${formatRatio(time.speedup)} as fast: ${verdicts[time.verdict]}`
}

/** Ends with 0 when it is told to stop. */
export async function watchRun(
  setup: Setup,
  request: RunRequest,
  options: Omit<StartRunOptions, 'emit'>,
): Promise<number> {
  await watchLadder(setup, request, {
    signal: options.signal,
    start: (round) => startRun(round, { ...options, emit: progressPrinter() }),
    onRound: ({ session, folder, missing, unsaved }, changes) => {
      const first = changes.every(({ before }) => before === null)
      if (first || isBuiltOnly(session.target)) printText(sessionText(session))
      else for (const change of changes) printText(describeChange(change))
      if (folder !== null) note(`Saved in ${folder}`)
      for (const error of [missing, unsaved]) if (error) printError(error)
    },
    onFault: printError,
    onWaiting: () => note('Waiting for a change. Press ^C to stop.'),
  })
  return 0
}
