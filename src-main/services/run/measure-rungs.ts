/** Verifies and times the built rungs in a run's measuring stage. */
import { builtRung } from '../../adapters/tools/runner'
import type { ErrorShape } from '../../domain/errors'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { RunPlan } from '../../domain/run/plan'
import type { RungBuild } from './finding'
import { measure } from './measure'
import type { Measured } from './measured'
import type { Progress } from './progress'
import type { TaskRunner } from './measurement'
import type { Device } from '../../domain/gpu/device'

interface MeasuredRungs {
  rungs: ReadonlyMap<string, Measured>
  ceilings: Ceilings | null
  /** Reason that the runner stopped early. */
  halted: ErrorShape | null
}

export async function measureRungs(
  runner: TaskRunner,
  plan: RunPlan,
  device: Device,
  built: ReadonlyMap<string, RungBuild>,
  progress: Progress,
  onOutOfTurn: (rung: string) => void,
): Promise<MeasuredRungs> {
  let ceilings: Ceilings | null = null
  const ready = [...built.values()].flatMap(({ planned, outcome }) =>
    outcome?.artifact ? [builtRung(planned.rung, outcome.artifact)] : [],
  )
  const step = progress.stage('measure', ready.length)
  const { rungs, halted } = await measure(
    runner,
    {
      problem: plan.problem,
      rungs: ready,
      reference: plan.reference?.rung.id ?? null,
      bursts: plan.timing === 'burst' || plan.timing === 'all',
      sustained: plan.timing === 'sustained' || plan.timing === 'all',
    },
    (event) => {
      switch (event.type) {
        case 'ceilings':
          ceilings = event.ceilings
          progress.emit({ type: 'gpu', device, ceilings })
          break
        case 'start':
          if (event.stage === 'verify' || event.stage === 'time')
            progress.rung(event.rung, event.stage, 'running')
          break
        case 'verified':
          progress.rung(event.rung, 'verify', 'done')
          break
        case 'measured':
          progress.rung(event.rung, ...stateOf(event.measured))
          progress.found(event.rung, event.measured)
          step()
          break
        case 'out-of-turn':
          onOutOfTurn(event.rung)
          break
      }
    },
  )
  return { rungs, ceilings, halted }
}

function stateOf({
  timing,
  trouble,
}: Measured): ['time' | 'verify', 'done' | 'skipped' | 'failed'] {
  if (timing) return ['time', 'done']
  return ['verify', trouble && trouble.status !== 'failed' ? 'skipped' : 'failed']
}
