/**
 * Builds a submission without running it. The editor shows the build result after every change. On
 * a machine without a GPU, submissions can only be built.
 */
import { toErrorShape } from '../../domain/errors'
import type { Statement } from '../../domain/messages/message'
import { submissionId } from '../../domain/labs/judge/evidence'
import type { Machine } from '../../adapters/machine/machine'
import type { LabOutcome } from '../../domain/labs/outcome'
import { occupancy } from '../../domain/gpu/occupancy'
import type { Build } from '../../domain/session/session'
import { buildRung } from '../bench/build-rung'
import { builtArchitecture, capabilityOf } from '../bench/architecture'
import { Bench } from '../bench/bench'
import type { BuildOutcome } from '../bench/compiler'
import { smLimits } from '../../domain/gpu/sm-limits'
import { type LabPlan } from './plan-lab'

/** Returns the occupancy by threads per block, computed from registers and static shared memory. */
export function occupancyTable(
  architecture: string,
  build: Build | null,
): LabOutcome['build']['occupancy'] {
  const limits = smLimits(capabilityOf(architecture))
  if (!limits || build?.registersPerThread == null) return []
  const { registersPerThread: registers, staticSharedBytes } = build
  return [64, 128, 256, 512, 1024].map((threads) => ({
    threads,
    percent: occupancy(limits, {
      threads,
      registers,
      staticSharedBytes: staticSharedBytes ?? 0,
      dynamicSharedBytes: 0,
    }).percent,
  }))
}

interface LabBuild {
  /** Target architecture, such as `sm_90`. */
  architecture: string
  /**
   * Whether the code was compiled for this machine's GPU. If the machine has no GPU, the code is
   * compiled for the recordings' GPU.
   */
  own: boolean
  outcome: BuildOutcome
}

/** Builds a submission. Throws `missing` if this machine has no compiler. */
export async function buildSubmission(
  machine: Machine,
  lab: LabPlan,
  signal: AbortSignal,
): Promise<LabBuild> {
  const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
  const bench = await Bench.open(tools, lab.catalog, signal)
  const compiler = await bench.compiler()
  const planned = lab.plan.rungs.find(({ rung }) => rung.id === submissionId)!
  const own = await bench.ownArchitecture()
  const sm = builtArchitecture(planned.rung.header.requires, own)
  return {
    architecture: `sm_${sm}`,
    own: own !== null,
    outcome: await buildRung(compiler, lab.plan, planned, sm),
  }
}

/** Builds a submission, or returns the reason that the compiler is missing. */
export async function tryBuild(
  machine: Machine,
  lab: LabPlan,
  signal: AbortSignal,
): Promise<LabBuild | { missing: Statement }> {
  try {
    return await buildSubmission(machine, lab, signal)
  } catch (error) {
    const { kind, message } = toErrorShape(error)
    if (kind !== 'missing') throw error
    return { missing: message }
  }
}
