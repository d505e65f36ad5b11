/**
 * `kernel-ladder run --watch`: runs the changed rungs after every save and prints how the results
 * changed.
 */
import { readCatalog } from '../../../adapters/catalog/catalog'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import type { Setup } from '../../../adapters/machine/machine'
import type { RunRequest } from '../../../contract/index'
import type { MetricDelta } from '../../../domain/analysis/compare'
import type { WatchedRung } from '../../../domain/analysis/watched'
import { percentChange } from '../../../domain/analysis/time-change'
import { inputError, KernelLadderError } from '../../../domain/errors'
import { formatMs } from '../../../domain/metrics/units'
import { can } from '../../../domain/targets/targets'
import { inEnglish } from '../../../domain/text/english'
import { openTrustedLadder } from '../../../services/folders/open'
import { watchFolder, type WatchNews } from '../../../services/run/watch'
import type { StartRunOptions } from '../../../services/targets/saved-run'
import { startRun } from '../../../services/targets/start-run'
import { note, printError, printText } from '../output'
import { progressPrinter } from '../progress'
import { metric } from '../describe/figure'
import { sessionText } from '../describe/describe-static'

/** Returns text such as `  Shared-memory loads: 4.10 k → 1.02 k, better`. */
const describeCounter = ({ label, a, b, verdict }: MetricDelta): string =>
  `  ${label}: ${metric(a ?? undefined)} → ${metric(b ?? undefined)}, ${verdict}`

/**
 * Returns text such as `02_tile: 1.31 ms → 0.98 ms, −25.2 %: faster.`, with one line per changed
 * counter.
 */
export function describeChange({
  id,
  status,
  verdict,
  reasons,
  beforeMs,
  nowMs,
  change,
  counters,
}: WatchedRung): string {
  const times = [beforeMs, nowMs].map((ms) => (ms === null ? null : formatMs(ms)))
  const time = times[0] && times[1] ? `${times[0]} → ${times[1]}` : (times[1] ?? times[0] ?? status)
  const by = change === null ? '' : `, ${percentChange(change.ratio)}`
  const isExplained = status !== 'ok' || (counters === null && verdict === 'unresolved')
  const why = isExplained ? ` ${reasons.map(inEnglish).join(' ')}` : ''
  // If nothing was timed, show the counters as the result.
  const isCounted = counters !== null && status === 'ok' && times[0] === null && times[1] === null
  if (isCounted && counters.length === 0) return `${id}: ${time}. No counter changed.`
  return [
    `${id}: ${time}${by}${isCounted ? '' : `: ${verdict}`}.${why}`.trimEnd(),
    ...(counters ?? []).map(describeCounter),
  ].join('\n')
}

const phases: Partial<Record<WatchNews['phase'], string>> = {
  waiting: 'Waiting for a change. Press Ctrl+C to stop.',
  gone: 'The folder no longer exists; waiting for it to come back.',
}

/** Watches a folder and runs changed rungs. Returns 0 when the watch is stopped. */
export async function watchRun(
  setup: Setup,
  request: RunRequest,
  options: Omit<StartRunOptions, 'emit'>,
): Promise<number> {
  const { own } = await openTrustedLadder(setup, request.ladder)
  if (!own)
    throw inputError(
      `${request.ladder} ships with the program and cannot be changed.`,
      'Only a ladder folder can be watched; `kernel-ladder init DIR` creates one.',
    )
  let rounds = 0
  // If this machine lacks something that the first round needs, saving files again cannot fix the
  // error.
  let missing: KernelLadderError | null = null
  const stop = new AbortController()
  await watchFolder({
    folder: own.folder,
    shipped: await readCatalog(setup.assets.kernelsDir),
    rungs: request.rungs,
    async run(rungs) {
      const { session, folder, ...faults } = await startRun(
        { ...request, ladder: own.folder, rungs },
        { ...options, emit: progressPrinter() },
      ).catch((error: unknown) => {
        if (rounds === 0 && error instanceof KernelLadderError && error.kind === 'missing') {
          missing = error
          stop.abort()
        }
        throw error
      })
      // Print the table if there is no previous result to compare with (first round) or if nothing
      // was timed.
      if (rounds === 0 || !can(session.target).times) printText(sessionText(session))
      if (folder !== null) note(`Saved in ${shownPath(folder)}`)
      for (const error of [faults.missing, faults.unsaved]) if (error) printError(error)
      return session
    },
    onNews({ phase, error, rounds: done, rungs }) {
      if (done > 1 && done > rounds)
        for (const rung of rungs)
          if (rung.fresh && rung.status !== 'not-run') printText(describeChange(rung))
      rounds = done
      if (missing) return
      if (error) printError(error)
      const words = phases[phase]
      if (words) note(words)
    },
    signal: AbortSignal.any([options.signal, stop.signal]),
  })
  if (missing) throw missing as KernelLadderError
  return 0
}
