/**
 * Runs rungs on the emulated GPU. Builds the rungs, announces the emulation's total cost, executes
 * the rungs, checks the results, and stores the counts per instruction. Measures no times.
 */
import { emulatorPool } from '../../adapters/emulator/pool'
import { nvccRelease, staticRungFlags } from '../../adapters/tools/nvcc'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import { message, type Statement } from '../../domain/messages/message'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { named, type Problem } from '../../domain/task/problem'
import type { Bench } from '../bench/bench'
import type { Compiler } from '../bench/compiler'
import { inParallel } from '../bench/in-parallel'
import type { Builds } from './build-rungs'
import { notEmulated } from './counted-rung'
import { EmulatedRungs, type LaunchesAt } from './emulated-rungs'
import type { Findings } from './finding'
import { openTools, PreparedRungs, requireFitting } from './prepared-rungs'
import { allUnavailable } from './profile'
import type { Progress } from './progress'
import type { OpenWay } from './way'

export interface EmulationSettings {
  seed: number
  /**
   * The problem that determines the reported launches, occupancy, and waves (default: the plan's
   * problem). A rung's host code can behave differently at each problem size. Therefore, launches
   * of the rungs in `verified` are used only if their results are correct for that problem.
   */
  launchesAt?: LaunchesAt | null
  /** The requested problem, if some of its sizes were reduced for the plan. */
  shrunkFrom?: Problem | null
}

export const emulatedWay =
  (gpu: BuildGpu, { seed, launchesAt = null, shrunkFrom = null }: EmulationSettings): OpenWay =>
  async ({ bench, plan }) => {
    requireFitting(plan)
    const compiler = await bench.compiler()
    return {
      gpu,
      device: null,
      flags: staticRungFlags,
      settings: { seed, profile: 'deep', clockControl: null, cacheControl: null },
      rungs: withTrusted(plan),
      warnings: [
        ...emulatorWarnings(compiler, gpu),
        ...(shrunkFrom
          ? [
              message('emulation.shrunk', {
                at: named(plan.problem.sizes),
                from: named(shrunkFrom.sizes),
              }),
            ]
          : []),
      ],
      withoutCounters: ({ status, reason }) =>
        allUnavailable('deep', status === 'ok' ? notEmulated : (reason ?? notEmulated)),
      examine: (builds, progress) =>
        examine({ bench, plan, gpu, seed, launchesAt }, builds, progress),
    }
  }

/**
 * Returns warnings about the emulation, for example if only shipped builds can run or another
 * architecture's rules were used.
 */
export const emulatorWarnings = (
  { onlyShipped, version }: Pick<Compiler, 'onlyShipped' | 'version'>,
  gpu: BuildGpu,
): Statement[] => [
  ...(onlyShipped ? [message('emulation.shipped', { version: nvccRelease(version) ?? '?' })] : []),
  ...(gpu.computeCapability === '9.0'
    ? []
    : [
        message('emulation.otherArchitecture', {
          computeCapability: gpu.computeCapability,
        }),
      ]),
]

export const withTrusted = ({ rungs, trusted }: RunPlan): PlannedRung[] =>
  trusted && !rungs.includes(trusted) ? [trusted, ...rungs] : rungs

interface Emulation {
  bench: Bench
  plan: RunPlan
  gpu: BuildGpu
  seed: number
  launchesAt: LaunchesAt | null
}

async function examine(
  { bench, plan, gpu, seed, launchesAt }: Emulation,
  builds: Builds,
  progress: Progress,
): Promise<Findings> {
  const { toolbox, signal } = bench
  const pool = emulatorPool(signal, { start: toolbox.startEmulator })
  try {
    const emulation = {
      ...{ toolbox, pool, task: plan.task, taskFolder: plan.taskFolder },
      ...{ gpu, seed, signal },
    }
    // Build the probe and the reference in parallel with the first rungs.
    const tools = openTools(bench.launchProbe(), bench.probedReference(plan, gpu), emulation)
    const prepared = new PreparedRungs(plan, tools, emulation)
    await inParallel([...builds.each.values()], async (build) => prepared.add(await build))
    const built = await builds.all()
    const nothing = { rungs: prepared.unlaunched, warnings: [], deep: new Map(), missing: null }
    if (signal.aborted) return nothing
    const ready = await tools
    prepared.announce((notice) => progress.note(notice))
    const rungs = new EmulatedRungs({ plan, built, prepared, tools: ready, launchesAt }, progress)
    return { ...nothing, ...(await rungs.examine()) }
  } finally {
    await pool.close()
  }
}
