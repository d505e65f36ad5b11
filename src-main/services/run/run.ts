/**
 * Runs a plan of any kind and returns the session. Builds the rungs, examines them, and assembles
 * the results.
 */
import type { RunEvent } from '../../contract/index'
import { nvccRelease } from '../../adapters/tools/nvcc'
import type { ErrorShape } from '../../domain/errors'
import type { RunPlan } from '../../domain/run/plan'
import type { DeepProfiles } from '../../domain/session/deep'
import { sessionSchemaVersion, type Session } from '../../domain/session/session'
import { printTarget, type Target } from '../../domain/targets/targets'
import { smOf } from '../bench/architecture'
import type { Bench } from '../bench/bench'
import { buildRungs } from './build-rungs'
import type { Findings, RungBuild } from './finding'
import { Progress } from './progress'
import { rungResult } from './rung-result'
import type { OpenWay, Way } from './way'

interface RunIdentity {
  id: string
  createdAt: string
  target: Target
  appVersion: string
}

interface Run {
  bench: Bench
  plan: RunPlan
  identity: RunIdentity
  emit: (event: RunEvent) => void
}

export interface RunOutcome {
  session: Session
  /** Deep profiles by rung, stored next to session.json. */
  deep: DeepProfiles
  /**
   * Set if this machine could not provide the requested counters or lost its GPU during the run.
   */
  missing: ErrorShape | null
}

export async function runPlan(
  { bench, plan, identity, emit }: Run,
  open: OpenWay,
): Promise<RunOutcome> {
  const started = performance.now()
  emit({
    type: 'started',
    ladder: plan.ladder.id,
    target: printTarget(identity.target),
    task: plan.ladder.task,
    problem: plan.problem,
    rungs: plan.rungs.map(({ rung }) => ({ id: rung.id, title: rung.title })),
  })
  emit({ type: 'stage', stage: 'prepare', done: 0, total: 0 })
  for (const message of plan.parametersLeft ?? []) emit({ type: 'log', level: 'warning', message })
  const compiler = await bench.compilerFor(plan)
  const way = await open({ bench, plan, emit })
  const progress = new Progress(emit, plan, way.withoutCounters)
  const builds = buildRungs(compiler, plan, way, progress)
  const findings = await way.examine(builds, progress)
  const built = await builds.all()
  const session = assemble(
    { plan, identity, way, built, findings },
    {
      nvcc: nvccRelease(compiler.version),
      elapsedSeconds: (performance.now() - started) / 1000,
      cancelled: bench.signal.aborted,
    },
  )
  for (const result of session.rungs) emit({ type: 'result', result })
  return { session, deep: findings.deep, missing: findings.missing }
}

interface Parts {
  plan: RunPlan
  identity: RunIdentity
  way: Way
  built: ReadonlyMap<string, RungBuild>
  findings: Findings
}

/** Assembles the session as a pure function. */
function assemble(
  { plan, identity, way, built, findings }: Parts,
  {
    nvcc,
    elapsedSeconds,
    cancelled,
  }: { nvcc: string | null; elapsedSeconds: number; cancelled: boolean },
): Session {
  const { ncu, ceilings } = findings
  return {
    schema: sessionSchemaVersion,
    ...identity,
    ladder: plan.ladder,
    problem: plan.problem,
    device: way.device,
    tools: { nvcc, ncu: ncu?.version ?? null },
    settings: {
      nvccFlags: [...way.flags(smOf(way.gpu))],
      ...way.settings,
      ...ncu?.settings,
    },
    ...(ceilings ? { ceilings } : {}),
    ...(way.prediction ? { prediction: way.prediction } : {}),
    completion: cancelled ? 'cancelled' : 'complete',
    elapsedSeconds,
    warnings: [...(plan.parametersLeft ?? []), ...way.warnings, ...findings.warnings],
    rungs: plan.rungs.map(({ rung }) =>
      rungResult(
        built.get(rung.id)!,
        findings.rungs.get(rung.id) ?? null,
        plan.task,
        way.withoutCounters,
      ),
    ),
  }
}
