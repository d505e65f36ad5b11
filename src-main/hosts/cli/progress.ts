/** A run's events as lines on stderr: what, which rung, how far. */
import type { RunEvent } from '../../contract'
import { formatGflops, formatMs } from '../../domain/units'
import { note } from './output'

const stageNames = {
  prepare: 'Looking at the machine',
  build: 'Building',
  measure: 'Verifying and timing',
  profile: 'Collecting counters',
  save: 'Saving',
} as const

export function progressPrinter(): (event: RunEvent) => void {
  let stage: string | null = null
  let at = ''
  const measured = new Set<string>()
  return (event) => {
    switch (event.type) {
      case 'stage':
        at = event.total > 0 ? ` ${event.done}/${event.total}` : ''
        if (event.stage !== stage) {
          stage = event.stage
          note(`${stageNames[event.stage]}…`)
        }
        break
      case 'rung':
        if (event.state === 'running' && event.stage !== 'time')
          note(`  ${event.stage}${at} ${event.rung}`)
        if (event.state === 'failed') note(`  ${event.stage} ${event.rung} failed`)
        break
      case 'result': {
        const { id, timing, reason, status } = event.result
        if (measured.has(id) || (!timing && status === 'not-run')) break
        measured.add(id)
        note(
          timing
            ? `  ${id}  ${formatMs(timing.medianMs)}  ${formatGflops(timing.gflops)}`
            : `  ${id}  ${status}. ${reason ?? ''}`,
        )
        break
      }
      case 'log':
        note(`${event.level === 'warning' ? 'warning: ' : ''}${event.message}`)
        break
      case 'started':
      case 'finished':
        break
    }
  }
}
