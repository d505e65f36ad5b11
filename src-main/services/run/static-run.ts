/**
 * Static analysis without a GPU: rungs are built for a GPU of the built-in table, and a stand-in for the CUDA runtime
 * records what they would launch, from which occupancy and waves are derived. Nothing is run, verified or timed,
 * and the session says so.
 */
import { staticRungFlags, launchedKernels, readBuiltCode } from '../../adapters/tools/nvcc'
import { sourceName } from '../../adapters/disk/build-cache'
import {
  probeLaunches,
  probeReference,
  type NotLaunched,
  type ProbedLaunch,
} from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { KernelLadderError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { instructionBytes } from '../../domain/sass/decode'
import { staticProfile } from '../../domain/sass/machine-code'
import type { DeepProfile } from '../../domain/session/deep'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import type { BuildGpu } from '../../domain/gpu/gpu'
import { unavailable, type MetricValue } from '../../domain/metrics/metrics'
import { caseOf } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { Launch, RungResult } from '../../domain/session/session'
import {
  buildLaunchProbe,
  buildReference,
  unusableReference,
  type BuildOutcome,
  type Compiler,
} from './build'
import { smOf } from './device'
import type { PlannedRung, RunPlan } from './plan'
import { allUnavailable } from './profile'
import {
  describedRung,
  statusOf,
  type RungState,
  runStages,
  type Run,
  type RunOutcome,
} from './stages'

type Launches = { launches: Launch[]; kernels: readonly ProbedLaunch[] } | NotLaunched

/** A rung with more is not shown by its instructions: no screen could. */
const mostInstructions = 200_000

/** `probeSources`: probe/ of the kernel library, text by path. */
export const buildForGpu = (
  run: Run,
  gpu: BuildGpu,
  probeSources: ReadonlyMap<string, string>,
): Promise<RunOutcome> =>
  runStages(run, async (compiler) => {
    const { environment, plan } = run
    // Nothing is checked against it here; that it cannot be used is better known before there is a GPU.
    const { reference } = environment
    const { signal, toolbox } = compiler
    const library = reference && (await buildReference(compiler, plan, reference, smOf(gpu)))
    const probe = await buildLaunchProbe(compiler, { ...environment, probeSources })
    if (reference && library !== null && 'artefact' in probe) {
      const fault = await probeReference(toolbox, { probe: probe.artefact, library, signal })
      if (fault !== null) throw unusableReference(reference, fault)
    }
    const found = new Map<string, Launches>()
    const deep = new Map<string, DeepProfile>()
    const faults: Statement[] = []
    return {
      gpu,
      device: null,
      flags: staticRungFlags,
      settings: {
        seed: 0,
        profile: 'none',
        clockControl: null,
        cacheControl: null,
      },
      rungs: plan.rungs,
      warnings: [
        message('records.builtOnly', { gpu: gpu.name, computeCapability: gpu.computeCapability }),
      ],
      async onBuilt({ planned, build }) {
        if (!build?.artefact) return
        const { artefact } = build
        const launches =
          'reason' in probe
            ? probe
            : await launchesOf(compiler, plan, planned, gpu, probe.artefact, { ...build, artefact })
        if (run.signal.aborted) return
        found.set(planned.rung.id, launches)
        if ('reason' in launches) return
        const code = await codeOf(toolbox, planned.rung.id, artefact, launches.kernels)
        if (code && 'rung' in code) deep.set(code.rung, code)
        else if (code)
          faults.push(message('records.noCode', { rung: planned.rung.id, why: code.why }))
      },
      afterBuild({ session }) {
        session.warnings.push(...faults)
        return Promise.resolve({ deep, missing: null })
      },
      result: (state) => staticResult(state, plan.task, gpu, found.get(state.planned.rung.id)),
    }
  })

/** The instructions of what is launched; null where there are none to be had. */
async function codeOf(
  toolbox: Toolbox,
  rung: string,
  library: string,
  launches: readonly ProbedLaunch[],
): Promise<DeepProfile | { why: Statement } | null> {
  try {
    const built = await readBuiltCode(toolbox, library)
    const kernels = built && launchedKernels(built, launches)
    if (!kernels || kernels.length === 0) return null
    const bytes = kernels.reduce((sum, { code }) => sum + code.code.length, 0)
    return bytes / instructionBytes > mostInstructions
      ? null
      : staticProfile(rung, kernels, sourceName)
  } catch (error) {
    if (!(error instanceof KernelLadderError)) throw error
    return { why: error.statement }
  }
}

/** `found` exists for rungs that were built. */
function staticResult(
  state: RungState,
  task: Task,
  gpu: BuildGpu,
  found: Launches | undefined,
): RungResult {
  const { planned, build } = state
  const { status, reason } = found ? staticStatus(found, gpu) : statusOf(state, task)
  return {
    ...describedRung(planned),
    status,
    ...(reason === undefined ? {} : { reason }),
    diagnostics: build?.diagnostics ?? [],
    build: build?.build ?? null,
    verify: null,
    timing: null,
    ...(found && 'launches' in found ? { launches: found.launches } : {}),
    profile: null,
    metrics: found
      ? staticMetrics(found, gpu)
      : allUnavailable('card', status === 'failed' ? message('checks.notBuilt') : reason!),
  }
}

/** Nothing is run, but a rung that would not launch on the GPU either has its final status. */
function staticStatus(found: Launches, gpu: BuildGpu): Pick<RungResult, 'status' | 'reason'> {
  if ('fault' in found && found.fault === 'failed')
    return { status: 'failed', reason: message('records.cannotLaunch', { why: found.reason }) }
  if ('fault' in found && found.fault === 'unsupported')
    return { status: 'unsupported', reason: found.reason }
  return { status: 'not-run', reason: message('records.builtNotRun', { gpu: gpu.name }) }
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
    ...(built.kernels ? { resources: built.kernels } : {}),
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
        // A kernel can have a compile-time cluster size, which is not visible in the launch.
        clusterBlocks:
          clusterBlocks === 0 && source.includes('__cluster_dims__') ? null : clusterBlocks,
      },
    })
  }
  return { launches, kernels: answer.kernels }
}

const notLaunched = {
  failed: 'records.cannotLaunch',
  unsupported: 'records.unsupportedHere',
  unknown: 'records.launchUnknown',
} as const

function staticMetrics(found: Launches, gpu: BuildGpu): Record<string, MetricValue> {
  const none = allUnavailable('card', message('records.nothingRun', { gpu: gpu.name }))
  if ('launches' in found) return { ...none, ...derivedMetrics(found.launches, gpu) }
  const { fault = 'unknown', reason: why } = found
  const reason = message(notLaunched[fault], { why })
  for (const id of ['wavesPerSm', 'theoreticalOccupancy', 'registersPerThread'])
    none[id] = unavailable(none[id]!.unit, reason)
  return none
}
