/** Prints a run's events to stderr: the stage, the rung and the progress. */
import { leadText, type LeadContext } from '../../domain/analysis/lead-figure'
import { inEnglish } from '../../domain/text/english'
import type { RunEvent } from '../../contract'
import type { ProfileCost, ProfilePlan } from '../../domain/analysis/pass-plan'
import type { Capabilities } from '../../domain/targets/kinds'
import { can, parseTarget } from '../../domain/targets/targets'
import { formatMs } from '../../domain/metrics/units'
import { note as printNote } from './output'

const stageNames = {
  prepare: 'Checking the machine',
  build: 'Building',
  measure: 'Verifying and timing',
  profile: 'Collecting counters',
  save: 'Saving',
} as const

/** Stage names for targets that do not measure times. */
const untimedNames = { ...stageNames, measure: 'Verifying' } as const

const seconds = (value: number | null): string =>
  value === null ? 'unknown' : formatMs(value * 1000)
const passesOf = (count: number): string => `${count} ${count === 1 ? 'pass' : 'passes'} per kernel`

/** Describes the expected cost of profiling before profiling starts. */
function describePlan(plan: ProfilePlan): string {
  const profiled = plan.rungs.filter(({ skipped }) => !skipped)
  const skipped = plan.rungs.filter((rung) => rung.skipped)
  const list = (rungs: ProfilePlan['rungs']): string =>
    rungs.map((rung) => `${rung.id} ${seconds(rung.seconds)}`).join(', ')
  return [
    `Profiling at the ${plan.level} level: about ${passesOf(plan.passes)}, ${seconds(plan.seconds)} in total. Estimated from the times just measured and the cost observed on ${inEnglish(plan.knownWith)}${plan.otherGpu ? '; this is a different GPU' : ''}.`,
    ...(profiled.length > 0 ? [`  by rung: ${list(profiled)}`] : []),
    ...(skipped.length > 0 ? [`  skipped: ${list(skipped)}`] : []),
  ].join('\n')
}

/** Describes the actual cost of profiling. */
function describeCost({ level, seconds: total, rungs }: ProfileCost): string {
  const passes = Math.max(0, ...rungs.map((rung) => rung.passes))
  const known = rungs.filter((rung) => rung.seconds !== null)
  return [
    `Profiling at the ${level} level took ${passesOf(passes)} and ${seconds(total)}.`,
    ...(known.length > 0
      ? [`  by rung: ${known.map((rung) => `${rung.id} ${seconds(rung.seconds)}`).join(', ')}`]
      : []),
  ].join('\n')
}

type Abilities = Pick<Capabilities, 'times' | 'replays' | 'predicts'>

/** Returns a target's capabilities. A replay neither builds nor measures. */
function abilities(text: string): Abilities {
  const target = parseTarget(text)
  return target ? can(target) : { times: true, replays: false }
}

/**
 * Returns a function that prints run events. `note` prints a line. If several runs are active,
 * `note` adds the run's name.
 */
export function progressPrinter(note = printNote): (event: RunEvent) => void {
  let stage: string | null = null
  let able: Abilities = { times: true, replays: false }
  let progress = { done: 0, total: 0 }
  const running = new Set<string>()
  let context: LeadContext = { ladder: { task: null }, problem: null, device: null }
  const measured = new Set<string>()
  return (event) => {
    switch (event.type) {
      case 'stage':
        progress = event
        if (event.stage !== stage) {
          stage = event.stage
          running.clear()
          const name = able.times ? stageNames[event.stage] : untimedNames[event.stage]
          if (!able.replays) note(`${name}…`)
        }
        break
      case 'rung':
        if (event.state === 'running') running.add(event.rung)
        else running.delete(event.rung)
        if (event.state === 'running' && event.stage === 'time' && able.predicts)
          note(`  predict ${event.rung}`)
        else if (event.state === 'running' && event.stage !== 'time' && !able.replays) {
          const { done, total } = progress
          // Rung number, counted from 1.
          const at = total > 0 ? ` ${done + running.size}/${total}` : ''
          note(`  ${event.stage}${at} ${event.rung}`)
        }
        if (event.state === 'failed') note(`  ${event.stage} ${event.rung} failed`)
        break
      case 'result': {
        const { id, timing, reason, status } = event.result
        if (measured.has(id) || (!timing && status === 'not-run')) break
        measured.add(id)
        note(
          timing
            ? `  ${id}  ${formatMs(timing.medianMs)}  ${leadText(context, event.result)}`
            : `  ${id}  ${status}${reason ? `. ${inEnglish(reason)}` : ''}`,
        )
        break
      }
      case 'profile-plan':
        if (!able.replays) note(describePlan(event.plan))
        break
      case 'profile-cost':
        if (!able.replays) note(describeCost(event.cost))
        break
      case 'log':
        note(`${event.level === 'warning' ? 'warning: ' : ''}${inEnglish(event.message)}`)
        break
      case 'started':
        able = abilities(event.target)
        if (able.replays) note(`Replaying ${event.target}…`)
        context = { ladder: { task: event.task }, problem: event.problem, device: null }
        break
      case 'gpu':
        context = {
          ...context,
          device: event.device,
          ...(event.ceilings && { ceilings: event.ceilings }),
        }
        break
      // Ignore this event, because a lost connection also sends a log event.
      case 'link':
      case 'finished':
        break
    }
  }
}
