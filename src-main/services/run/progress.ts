/**
 * Reports a run's progress. The progress object is the run's only mutable object, and saved data
 * never depends on it.
 */
import type { RunEvent } from '../../contract/index'
import type { Statement } from '../../domain/messages/message'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import type { Finding, RungBuild } from './finding'
import { rungResult, type MetricsWithoutCounters } from './rung-result'

type RungEvent = Extract<RunEvent, { type: 'rung' }>

export class Progress {
  private readonly builds = new Map<string, RungBuild>()

  constructor(
    readonly emit: (event: RunEvent) => void,
    private readonly plan: Pick<RunPlan, 'rungs' | 'task'>,
    private readonly withoutCounters: MetricsWithoutCounters,
  ) {}

  /**
   * Starts a progress count for a stage, from 0 to `total`. Returns a function that increments the
   * count.
   */
  stage(stage: Extract<RunEvent, { type: 'stage' }>['stage'], total: number): () => void {
    let done = 0
    const tell = (): void => this.emit({ type: 'stage', stage, done, total })
    tell()
    return () => {
      done += 1
      tell()
    }
  }

  rung(rung: string, stage: RungEvent['stage'], state: RungEvent['state'], detail?: string): void {
    this.emit({ type: 'rung', rung, stage, state, ...(detail === undefined ? {} : { detail }) })
  }

  note(message: Statement): void {
    this.emit({ type: 'log', level: 'info', message })
  }

  warn(message: Statement): void {
    this.emit({ type: 'log', level: 'warning', message })
  }

  built(build: RungBuild): void {
    const { planned, outcome, unsupported } = build
    this.builds.set(planned.rung.id, build)
    this.rung(
      planned.rung.id,
      'build',
      unsupported ? 'skipped' : outcome?.artifact ? 'done' : 'failed',
      outcome?.build?.cached ? 'cached' : undefined,
    )
    this.publish(build, null)
  }

  /** Publishes the results that a built rung has so far. Ignores rungs that were not requested. */
  found(rung: string, finding: Finding): void {
    const build = this.builds.get(rung)
    if (build) this.publish(build, finding)
  }

  private publish(build: RungBuild, finding: Finding | null): void {
    const planned: readonly PlannedRung[] = this.plan.rungs
    if (!planned.includes(build.planned)) return
    const { task } = this.plan
    this.emit({
      type: 'result',
      result: rungResult(build, finding, task, this.withoutCounters),
    })
  }
}
