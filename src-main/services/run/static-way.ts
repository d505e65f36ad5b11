/**
 * Analyzes rungs without a GPU. Rungs are built for a GPU in the built-in table, and a replacement
 * for the CUDA runtime records their launches. Occupancy and waves are derived from the launches.
 * No kernel is run, verified, or timed, and the session says so.
 */
import { staticRungFlags } from '../../adapters/tools/nvcc'
import { sourceName } from '../../adapters/disk/build-cache'
import { type ProbedLaunch } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { KernelLadderError } from '../../domain/errors'
import { hasComputedInputs } from '../../domain/task/task'
import { message, type Statement } from '../../domain/messages/message'
import { instructionBytes } from '../../domain/sass/decode'
import type { DeepProfile } from '../../domain/session/deep'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import { unavailable, type MetricValue } from '../../domain/metrics/metrics'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { caseOf } from '../../domain/task/problem'
import type { Launch } from '../../domain/session/session'
import { smOf } from '../bench/architecture'
import type { Bench } from '../bench/bench'
import type { BuildOutcome } from '../bench/compiler'
import { inParallel } from '../bench/in-parallel'
import { buildReference, unusableReference } from '../bench/reference'
import type { Builds } from './build-rungs'
import type { Finding, Findings } from './finding'
import { allUnavailable } from './profile'
import type { Progress } from './progress'
import type { OpenWay } from './way'
import { staticProfile } from '../../domain/sass/static-profile'
import { launchedKernels, readBuiltCode } from '../../adapters/tools/built-code'
import {
  probeLaunches,
  probeReference,
  type NotLaunched,
  type ReferenceStage,
} from '../../adapters/tools/launch-probe'

type Launches = { launches: Launch[]; kernels: readonly ProbedLaunch[] } | NotLaunched

/**
 * Maximum number of instructions in a rung's instruction view, which is the most that the UI can
 * show.
 */
const mostInstructions = 200_000

export const staticWay =
  (gpu: BuildGpu): OpenWay =>
  async ({ bench, plan }) => {
    const { probe } = await openProbe(bench, plan, gpu)
    return {
      gpu,
      device: null,
      flags: staticRungFlags,
      settings: { seed: 0, profile: 'none', clockControl: null, cacheControl: null },
      rungs: plan.rungs,
      warnings: [
        message('records.builtOnly', { gpu: gpu.name, computeCapability: gpu.computeCapability }),
      ],
      withoutCounters: ({ status, reason }) =>
        allUnavailable('card', status === 'failed' ? message('checks.notBuilt') : reason!),
      examine: (builds, progress) => examine({ bench, plan, gpu, probe }, builds, progress),
    }
  }

type Probe = Awaited<ReturnType<Bench['launchProbe']>>

interface Examination {
  bench: Bench
  plan: RunPlan
  gpu: BuildGpu
  probe: Probe
}

/**
 * Opens the probe. A static run does not use the reference. It is built only so that the user sees
 * its errors before moving to a GPU.
 */
async function openProbe(bench: Bench, plan: RunPlan, gpu: BuildGpu): Promise<{ probe: Probe }> {
  const reference = bench.referenceOf(plan)
  const library =
    reference && (await buildReference(await bench.compiler(), plan, reference, smOf(gpu)))
  const probe = await bench.launchProbe()
  if (reference && library !== null && 'artifact' in probe) {
    const { toolbox, signal } = bench
    const stages: readonly ReferenceStage[] = hasComputedInputs(plan.task)
      ? ['kl_reference', 'kl_inputs']
      : ['kl_reference']
    for (const stage of stages) {
      const fault = await probeReference(toolbox, { probe: probe.artifact, library, stage, signal })
      if (fault !== null) throw unusableReference(reference, fault)
    }
  }
  return { probe }
}

/** Examines each rung as soon as it is built. */
async function examine(
  examination: Examination,
  builds: Builds,
  progress: Progress,
): Promise<Findings> {
  const { bench, gpu, probe } = examination
  const rungs = new Map<string, Finding>()
  const deep = new Map<string, DeepProfile>()
  const warnings: Statement[] = []
  await inParallel([...builds.each.values()], async (build) => {
    const { planned, outcome } = await build
    if (!outcome?.artifact) return
    const { id } = planned.rung
    const built = { ...outcome, artifact: outcome.artifact }
    const launches =
      'reason' in probe ? probe : await launchesOf(examination, planned, probe.artifact, built)
    if (bench.signal.aborted) return
    const finding = findingOf(launches, gpu)
    rungs.set(id, finding)
    progress.found(id, finding)
    if ('reason' in launches) return
    const code = await codeOf(bench.toolbox, id, built.artifact, gpu, launches.kernels)
    if (code && 'rung' in code) deep.set(code.rung, code)
    else if (code) warnings.push(message('records.noCode', { rung: id, why: code.why }))
  })
  return { rungs, warnings, deep, missing: null }
}

/**
 * Returns a rung's result. No kernel runs in a static run, but a rung that the GPU could not launch
 * gets the status `failed` or `unsupported`.
 */
const findingOf = (found: Launches, gpu: BuildGpu): Finding => ({
  verify: null,
  timing: null,
  trouble: statusOf(found, gpu),
  ...('launches' in found ? { launches: found.launches } : {}),
  metrics: metricsOf(found, gpu),
})

function statusOf(found: Launches, gpu: BuildGpu): NonNullable<Finding['trouble']> {
  if ('fault' in found && found.fault === 'failed')
    return { status: 'failed', reason: message('records.cannotLaunch', { why: found.reason }) }
  if ('fault' in found && found.fault === 'unsupported')
    return { status: 'unsupported', reason: found.reason }
  return { status: 'not-run', reason: message('records.builtNotRun', { gpu: gpu.name }) }
}

/** Returns the launched kernels' instructions, or null if they are unavailable. */
async function codeOf(
  toolbox: Toolbox,
  rung: string,
  library: string,
  gpu: BuildGpu,
  launches: readonly ProbedLaunch[],
): Promise<DeepProfile | { why: Statement } | null> {
  try {
    const built = await readBuiltCode(toolbox, library, Number(smOf(gpu)))
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

async function launchesOf(
  { bench: { toolbox, signal }, plan: { task, problem }, gpu }: Examination,
  { rung, source }: PlannedRung,
  probe: string,
  built: BuildOutcome & { artifact: string },
): Promise<Launches> {
  const answer = await probeLaunches(toolbox, {
    probe,
    rung: rung.id,
    library: built.artifact,
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
        // A kernel can have a compile-time cluster size, which the recorded launch does not
        // contain.
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

function metricsOf(found: Launches, gpu: BuildGpu): Record<string, MetricValue> {
  const none = allUnavailable('card', message('records.nothingRun', { gpu: gpu.name }))
  if ('launches' in found) return { ...none, ...derivedMetrics(found.launches, gpu) }
  const { fault = 'unknown', reason: why } = found
  const reason = message(notLaunched[fault], { why })
  for (const id of ['wavesPerSm', 'theoreticalOccupancy', 'registersPerThread'])
    none[id] = unavailable(none[id]!.unit, reason)
  return none
}
