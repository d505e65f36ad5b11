/**
 * Implements the contract's `tunings.*` calls. The calls manage finished sweeps and apply their
 * winners as variants.
 */
import { keepTuning, readTuning, tuningIds } from '../../adapters/disk/tuning-store'
import type { Setup } from '../../adapters/machine/machine'
import type { CallInput } from '../../contract'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { type TuneReport } from '../../domain/tune/report'
import { openTrustedLadder } from '../folders/open'
import { applyWinner } from './apply'
import { plannedRung } from './tune'
import { listed, tuningId, type ListedTuning } from '../../domain/tune/kept-tuning'

/** Stores a sweep for the UI and returns its id. */
export function keepReport(
  { machine }: Setup,
  report: TuneReport,
  { machine: name, folder }: { machine: string | null; folder: string | null },
): Promise<string> {
  const createdAt = new Date().toISOString()
  const id = tuningId(report, createdAt)
  return keepTuning(machine.folders.tunes, {
    ...{ schema: 1, id, createdAt, machine: name, folder, report },
  })
}

export const tuningCalls = (setup: Setup) => {
  const { tunes } = setup.machine.folders
  return {
    /**
     * Lists sweeps, newest first. Omits unreadable sweeps. Opening an unreadable sweep reports the
     * reason.
     */
    'tunings.list': async () => {
      const found: ListedTuning[] = []
      for (const id of await tuningIds(tunes)) {
        const tuning = await readTuning(tunes, id).catch(() => null)
        if (tuning) found.push(listed(tuning))
      }
      return { tunings: found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)) }
    },
    'tunings.get': ({ id }: CallInput<'tunings.get'>) => readTuning(tunes, id),
    'tunings.apply': async ({ id }: CallInput<'tunings.apply'>) => {
      const { folder, report } = await readTuning(tunes, id)
      const { own } = await openTrustedLadder(setup, folder ?? report.ladder)
      if (!own) throw inputError(message('tunings.shipped', { ladder: report.ladder }))
      const { ladder, rung } = { ladder: own.folder, rung: report.rung }
      const variant = await applyWinner(own, await plannedRung(setup, { ladder, rung }), report)
      return { variant, folder: own.folder }
    },
  }
}
