/**
 * Builds the proposed rung and emulates it at a small size. The emulation shows how the rung's
 * machine code accesses the buffers.
 */
import type { Catalog } from '../../../adapters/catalog/catalog'
import { emulatorPool } from '../../../adapters/emulator/pool'
import { probeLaunches, type Launched } from '../../../adapters/tools/launch-probe'
import { readModules } from '../../../adapters/tools/built-code'
import { staticRungFlags } from '../../../adapters/tools/nvcc'
import { bufferBytes, shrunk } from '../../../domain/emulation/emulated-problem'
import { observeAccesses, type Observed } from '../../../domain/emulation/observed-accesses'
import type { BuildGpu } from '../../../domain/gpu/gpu-table'
import { dtypeOf } from '../../../domain/task/dtype'
import { KernelLadderError } from '../../../domain/errors'
import { message, type Statement } from '../../../domain/messages/message'
import type { RunPlan } from '../../../domain/run/plan'
import { caseOf, type Problem, type Sizes } from '../../../domain/task/problem'
import { architectureFor, smOf } from '../../bench/architecture'
import type { Bench } from '../../bench/bench'
import { buildRung } from '../../bench/build-rung'
import type { BuildOutcome } from '../../bench/compiler'
import { buildReference } from '../../bench/reference'
import {
  estimate,
  execute,
  faultsOf,
  layoutsOf,
  readyRung,
  type EmulationSettings,
  type ReadyRung,
} from '../../run/emulate'
import { sharedFills } from '../../run/filled-cases'
import { expectedOf, verified } from '../../run/emulated-expectation'
import { planRun } from '../../run/plan'
import { wrongness } from '../../run/wrongness'

export interface Tried {
  /** The rung's launches at the ladder's default size, or null if unknown. */
  launched: Launched | null
  /** The rung's buffer accesses at a smaller size, or null if the rung did not run. */
  observed: Observed | null
  /** Reason that the rung failed to build, launch, or run. */
  trouble: Statement | null
}

/**
 * Maximum buffer size in a small run: square matrices of 150 rows, or vectors of 20,000 elements.
 */
const mostBytes = 2 ** 18

/**
 * Maximum warp instructions per launch in a small run. Launches that exceed this limit are not
 * evaluated.
 */
const mostInstructions = 1e7

interface Prepared {
  plan: RunPlan
  /** The probe's path. */
  probe: string
  build: BuildOutcome & { artifact: string }
}

async function prepare(
  bench: Bench,
  catalog: Catalog,
  ladder: string,
  gpu: BuildGpu,
): Promise<Prepared | { trouble: Statement }> {
  const plan = planRun(catalog, { ladder, params: {}, profile: 'deep' })
  const [planned] = plan.rungs
  const architecture = architectureFor(planned!.rung.header.requires, gpu)
  if ('unsupported' in architecture) return { trouble: architecture.unsupported }
  const [probe, build] = await Promise.all([
    bench.launchProbe(),
    buildRung(await bench.compiler(), plan, planned!, architecture.sm, staticRungFlags),
  ])
  if ('reason' in probe) return { trouble: probe.reason }
  const { artifact } = build
  if (!artifact) return { trouble: build.reason ?? message('asked.cancelled') }
  return { plan, probe: probe.artifact, build: { ...build, artifact } }
}

/** Returns the plan's problem with smaller sizes. */
const smallProblem = ({ task, problem }: RunPlan): Problem =>
  shrunk(task, problem, (small) => bufferBytes(task, { flags: [], ...small }) <= mostBytes)

/**
 * Prepares the rung for a problem, and calls `work` with the emulation settings and the prepared
 * rung.
 */
async function emulated<T>(
  bench: Bench,
  { plan, probe, build }: Prepared,
  gpu: BuildGpu,
  problem: Problem,
  work: (settings: EmulationSettings, ready: ReadyRung) => T | Promise<T>,
): Promise<T | { trouble: Statement }> {
  const { toolbox, signal } = bench
  const pool = emulatorPool(signal, { start: toolbox.startEmulator })
  try {
    const { task, taskFolder } = plan
    const settings = { toolbox, pool, probe, task, taskFolder, gpu, seed: 1, signal }
    const { rung } = plan.rungs[0]!
    const fills = sharedFills(settings, () => ({ bench: settings, library: null }))
    const ready = await readyRung(settings, fills, rung, build, problem)
    return 'reason' in ready ? { trouble: ready.reason } : await work(settings, ready)
  } finally {
    await pool.close()
  }
}

/**
 * Compares the reference with the rung's result at a small size. Returns the reason for a mismatch,
 * or null if the results match.
 */
export async function referenceFault(
  bench: Bench,
  catalog: Catalog,
  ladder: string,
  gpu: BuildGpu,
): Promise<Statement | null> {
  const prepared = await prepare(bench, catalog, ladder, gpu)
  if ('trouble' in prepared) return prepared.trouble
  const { plan } = prepared
  try {
    const source = catalog.references.get(plan.task.id)
    if (!source) return null
    const compiler = await bench.compiler()
    const library = await buildReference(compiler, plan, source, smOf(gpu), staticRungFlags)
    const fault = await emulated(
      bench,
      prepared,
      gpu,
      smallProblem(plan),
      async (settings, ready) => {
        const expected = await expectedOf(settings, library, ready.own, ready.buffers)
        const estimated = await estimate(settings, ready)
        const answer = await execute(settings, ready, { estimated })
        const { stop } = faultsOf(answer, ready)
        if (stop) return stop
        const verify = verified(plan.task, ready, answer, expected)
        return verify.passed ? null : wrongness(verify, plan.task)
      },
    )
    return fault !== null && typeof fault === 'object' && 'trouble' in fault ? fault.trouble : fault
  } catch (error) {
    if (error instanceof KernelLadderError && error.kind !== 'cancelled') return error.statement
    throw error
  }
}

export async function tryLadder(
  bench: Bench,
  catalog: Catalog,
  ladder: string,
  gpu: BuildGpu,
): Promise<Tried> {
  const prepared = await prepare(bench, catalog, ladder, gpu)
  if ('trouble' in prepared) return { launched: null, observed: null, ...prepared }
  const { plan, probe, build } = prepared
  const { toolbox, signal } = bench
  const { task } = plan
  const { rung } = plan.rungs[0]!
  const own = caseOf(plan.problem, { options: rung.options, flags: rung.header.flags })
  const launched = await probeLaunches(toolbox, {
    ...{ probe, rung: rung.id, library: build.artifact, task, own, gpu, signal },
    layouts: layoutsOf(await readModules(toolbox, build.artifact)),
    ...(build.kernels ? { resources: build.kernels } : {}),
  })
  if ('reason' in launched) return { launched: null, observed: null, trouble: launched.reason }
  const found = await emulated(bench, prepared, gpu, smallProblem(plan), (_, ready) => ({
    observed: observeAccesses({ ...ready.job, limit: mostInstructions }),
  }))
  return 'trouble' in found
    ? { launched, observed: null, ...found }
    : { launched, ...found, trouble: null }
}

/** Maximum size in bytes of a buffer in a trial with unequal sizes. */
const mostTrialBytes = 2 ** 26

/**
 * Whether every element of a buffer was written. Before the run, the buffer is filled with 0xff
 * bytes.
 */
function isWritten(bytes: Uint8Array, elementBytes: number): boolean {
  for (let at = 0; at < bytes.length; at += elementBytes)
    if (bytes.subarray(at, at + elementBytes).every((byte) => byte === 0xff)) return false
  return true
}

/**
 * Whether the rung accesses only its own buffers and writes its outputs completely at all sizes.
 * Null if unknown.
 */
export async function fitsAt(
  bench: Bench,
  catalog: Catalog,
  ladder: string,
  gpu: BuildGpu,
  all: readonly Sizes[],
): Promise<boolean | null> {
  const prepared = await prepare(bench, catalog, ladder, gpu)
  if ('trouble' in prepared) return null
  const { plan } = prepared
  for (const sizes of all) {
    const problem = { ...plan.problem, sizes }
    if (bufferBytes(plan.task, { flags: [], ...problem }) > mostTrialBytes) return null
    const found = await emulated(bench, prepared, gpu, problem, async (settings, ready) => {
      const estimated = await estimate(settings, ready)
      if (Number.isFinite(estimated) && estimated > mostInstructions) return null
      const answer = await execute(settings, ready, { estimated })
      if (faultsOf(answer, ready).records.length > 0) return false
      if (answer.stop) return answer.stop.kind === 'illegal-address' ? false : null
      return ready.buffers.every(
        ({ name, access, dtype }) =>
          access !== 'out' || isWritten(answer.outputs.get(name)!, dtypeOf(dtype).bytes),
      )
    })
    if (found !== true) return found === false ? false : null
  }
  return true
}
