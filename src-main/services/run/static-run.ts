/**
 * What can be said of rungs without a GPU: they are built for one of the table, and with what they would
 * launch, which a stand-in for the CUDA runtime writes down, their occupancy and waves follow. Nothing is
 * run, verified or timed, and the session says so.
 */
import { nvccRelease, staticRungFlags } from '../../adapters/tools/nvcc'
import { probeLaunches } from '../../adapters/tools/launch-probe'
import type { RunEvent } from '../../contract'
import { message, type Statement } from '../../domain/messages/message'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import type { BuildGpu } from '../../domain/gpu/gpus'
import { unavailable, type MetricValue } from '../../domain/metrics/metrics'
import { caseOf } from '../../domain/task/problem'
import type { Launch, RungResult, Session } from '../../domain/session/session'
import { sessionSchemaVersion } from '../../domain/session/session'
import { buildLaunchProbe, buildRung, inParallel, type BuildOutcome, type Compiler } from './build'
import { architectureFor, locateNvcc, smOf } from './device'
import type { PlannedRung, RunPlan } from './plan'
import { refuseImpossible } from './refused-parameters'
import { allUnavailable } from './profile'
import { describedRung } from './result'
import {
  compilerVersion,
  type RunEnvironment,
  type RunIdentity,
  type RunOutcome,
} from './run-ladder'

export interface StaticEnvironment extends RunEnvironment {
  /** probe/ of the kernel library, text by path. */
  probeSources: ReadonlyMap<string, string>
}

type Launches = { launches: Launch[] } | { reason: Statement }

export async function buildForGpu(
  environment: StaticEnvironment,
  plan: RunPlan,
  identity: RunIdentity,
  gpu: BuildGpu,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { toolbox } = environment
  const started = performance.now()
  emit({
    type: 'started',
    ladder: plan.ladder.id,
    target: `static:${identity.target.name}`,
    problem: plan.problem,
    rungs: plan.rungs.map(({ rung }) => ({ id: rung.id, title: rung.title })),
  })
  emit({ type: 'stage', stage: 'prepare', done: 0, total: 0 })
  const nvcc = await locateNvcc(toolbox)
  const version = await compilerVersion(environment, nvcc, signal)
  const compiler = { ...environment, nvcc, version, signal }
  const probe = await buildLaunchProbe(compiler, environment)

  const results = new Map<string, RungResult>()
  const total = plan.rungs.length
  const step = (): void => emit({ type: 'stage', stage: 'build', done: results.size, total })
  step()
  await inParallel(plan.rungs, async (planned) => {
    if (signal.aborted) return
    emit({ type: 'rung', rung: planned.rung.id, stage: 'build', state: 'running' })
    const result = await buildOne(compiler, plan, planned, gpu, probe)
    if (signal.aborted) return
    results.set(planned.rung.id, result)
    const state =
      result.status === 'unsupported' ? 'skipped' : result.build === null ? 'failed' : 'done'
    const detail = result.build?.cached ? { detail: 'cached' } : {}
    emit({ type: 'rung', rung: result.id, stage: 'build', state, ...detail })
    emit({ type: 'result', result })
    step()
  })

  refuseImpossible(plan, new Map([...results].map(([id, own]) => [id, own.diagnostics])))

  const session: Session = {
    schema: sessionSchemaVersion,
    ...identity,
    appVersion: environment.appVersion,
    ladder: plan.ladder,
    problem: plan.problem,
    device: null,
    tools: { nvcc: nvccRelease(version), ncu: null },
    settings: {
      nvccFlags: staticRungFlags(smOf(gpu)),
      seed: 0,
      flushL2: false,
      profile: 'none',
      clockControl: null,
      cacheControl: null,
    },
    completion: signal.aborted ? 'cancelled' : 'complete',
    elapsedSeconds: (performance.now() - started) / 1000,
    warnings: [
      message('records.builtOnly', { gpu: gpu.name, computeCapability: gpu.computeCapability }),
    ],
    rungs: plan.rungs.map((planned) => results.get(planned.rung.id) ?? notReached(planned)),
  }
  return { session, deep: new Map(), missing: null }
}

const resultOf = (
  planned: PlannedRung,
  known: Pick<RungResult, 'status' | 'build' | 'metrics' | 'diagnostics'> & Partial<RungResult>,
): RungResult => ({
  ...describedRung(planned),
  verify: null,
  timing: null,
  profile: null,
  ...known,
})

const notReached = (planned: PlannedRung): RungResult =>
  resultOf(planned, {
    status: 'not-run',
    reason: message('records.notReached'),
    build: null,
    diagnostics: [],
    metrics: allUnavailable('card', message('records.notReached')),
  })

async function buildOne(
  compiler: Compiler,
  plan: RunPlan,
  planned: PlannedRung,
  gpu: BuildGpu,
  probe: { artefact: string } | { reason: Statement },
): Promise<RungResult> {
  const architecture = architectureFor(planned.rung.header.requires, gpu)
  if ('unsupported' in architecture)
    return resultOf(planned, {
      status: 'unsupported',
      reason: architecture.unsupported,
      build: null,
      diagnostics: [],
      metrics: allUnavailable('card', architecture.unsupported),
    })
  const built = await buildRung(compiler, plan.task, planned, architecture.sm, staticRungFlags)
  if (!built.artefact) {
    const reason = built.reason ?? message('checks.notCompiled')
    return resultOf(planned, {
      status: 'failed',
      reason,
      build: null,
      diagnostics: built.diagnostics,
      metrics: allUnavailable('card', message('checks.notBuilt')),
    })
  }
  const found =
    'reason' in probe
      ? probe
      : await launchesOf(compiler, plan, planned, gpu, probe.artefact, {
          ...built,
          artefact: built.artefact,
        })
  return resultOf(planned, {
    status: 'not-run',
    reason: message('records.builtNotRun', { gpu: gpu.name }),
    build: built.build,
    diagnostics: built.diagnostics,
    ...('launches' in found ? { launches: found.launches } : {}),
    metrics: staticMetrics(found, gpu),
  })
}

async function launchesOf(
  { toolbox, signal }: Compiler,
  { task, problem }: RunPlan,
  { rung, source }: PlannedRung,
  gpu: BuildGpu,
  probe: string,
  built: BuildOutcome & { artefact: string },
): Promise<Launches> {
  const answer = await probeLaunches(toolbox, {
    probe,
    rung: rung.id,
    library: built.artefact,
    task,
    own: caseOf(problem, { options: rung.options, flags: rung.header.flags }),
    gpu,
    signal,
  })
  if ('reason' in answer) return answer
  const launches: Launch[] = []
  for (const { mangled, name, grid, block, dynamicSharedBytes, clusterBlocks } of answer.kernels) {
    const compiled = built.kernels?.find((kernel) => kernel.name === mangled)
    if (!compiled) return { reason: message('records.ptxasSilent', { kernel: name }) }
    launches.push({
      name,
      grid,
      block,
      resources: {
        registersPerThread: compiled.registers,
        staticSharedBytes: compiled.staticSharedBytes,
        dynamicSharedBytes,
        barriers: compiled.barriers,
        carveOutBytes: null,
        // A kernel can carry its cluster's size in itself, where no launch tells of it.
        clusterBlocks:
          clusterBlocks === 0 && source.includes('__cluster_dims__') ? null : clusterBlocks,
      },
    })
  }
  return { launches }
}

function staticMetrics(found: Launches, gpu: BuildGpu): Record<string, MetricValue> {
  const none = allUnavailable('card', message('records.nothingRun', { gpu: gpu.name }))
  if ('launches' in found) return { ...none, ...derivedMetrics(found.launches, gpu) }
  const reason = message('records.launchUnknown', { why: found.reason })
  for (const id of ['wavesPerSm', 'theoreticalOccupancy', 'registersPerThread'])
    none[id] = unavailable(none[id]!.unit, reason)
  return none
}
