/** Counters of what is being edited: one look at a time, and each original looked at once. */
import { readSharedFiles, type KernelLibrary } from '../../adapters/kernels/kernel-library'
import type { Machine } from '../../adapters/machine/machine'
import type { RungBuild, RungCounters } from '../../contract/folders'
import { gpus, type BuildGpu } from '../../domain/gpu/gpu'
import type { Session } from '../../domain/session/session'
import { sizesLabel } from '../../domain/task/problem'
import type { BuildOutcome } from './build'
import { openCompiler } from './compiler'
import { smOf } from './device'
import { emulatedGpu } from './emulated-gpu'
import { lookAt, type Look } from './look'
import type { RunPlan } from './plan'

export const builtAnswer = (built: BuildOutcome, sm: string): RungBuild => ({
  built: built.artefact !== null,
  reason: built.reason ?? null,
  diagnostics: built.diagnostics,
  build: built.build,
  architecture: `sm_${sm}`,
})

/** The answer about what has no counters. */
export const uncounted = (build: RungBuild, gpu: BuildGpu): RungCounters => ({
  ...build,
  ...{ gpu: gpu.name, at: '', metrics: null, before: null, profile: null },
})

/** The GPU that the session was measured on, or one of its compute capability, where such a one is emulated. */
export function gpuLike(device: Session['device']): BuildGpu {
  const alike = gpus.filter(
    ({ computeCapability }) =>
      computeCapability === device?.computeCapability && Number(computeCapability) <= 9,
  )
  return emulatedGpu(
    (alike.find(({ name }) => device?.name.endsWith(name)) ?? alike[0])?.id ?? null,
  ).gpu
}

export interface Counting {
  library: KernelLibrary
  gpu: BuildGpu
  /** Of the rung as it is typed, alone. */
  plan: RunPlan
  /** Of what it is edited from, alone. */
  original: RunPlan
}

/** A later call cancels one that is under way: counting what was typed before is of no use. */
export function createCounting(machine: Machine) {
  let looking: AbortController | null = null
  const originals = new Map<string, Look>()

  const count = async (
    { library, gpu, plan, original }: Counting,
    signal: AbortSignal,
  ): Promise<RungCounters> => {
    const compiler = await openCompiler(
      { toolbox: machine.toolbox(null), cache: machine.cache },
      await readSharedFiles(library.root, 'include'),
      signal,
    )
    const sources = {
      probeSources: await readSharedFiles(library.root, 'probe'),
      runnerSources: await readSharedFiles(library.root, 'runner'),
    }
    const look = (of: RunPlan): Promise<Look> => lookAt(compiler, of, of.rungs[0]!, gpu, sources)
    const { build, counted, reason, problem } = await look(plan)
    const [{ rung, source }] = original.rungs as [RunPlan['rungs'][number]]
    const key = JSON.stringify([rung.file, rung.params, source, problem, gpu.name])
    const before = originals.get(key) ?? (await look(original))
    // Those of one screen are few; of a file that is saved again and again only the last is asked for.
    if (originals.size >= 16) originals.clear()
    originals.set(key, before)
    return {
      ...builtAnswer(build, smOf(gpu)),
      ...{ reason, gpu: gpu.name, at: sizesLabel(problem.sizes) },
      metrics: counted?.metrics ?? null,
      before: before.counted?.metrics ?? null,
      profile: counted?.deep ?? null,
    }
  }
  /** Call it when a question comes in: what is read first to answer takes longer or shorter. */
  return () => {
    looking?.abort()
    const { signal } = (looking = new AbortController())
    return (of: Counting): Promise<RungCounters> => count(of, signal)
  }
}
