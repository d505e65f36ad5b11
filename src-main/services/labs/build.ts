/** Builds a submission without running it: what a student sees after every change, and all that is possible without a GPU. */
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import type { Machine } from '../../adapters/machine/machine'
import type { Statement } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import type { LabOutcome } from '../../domain/labs/outcome'
import { occupancy } from '../../domain/gpu/occupancy'
import type { Build } from '../../domain/session/session'
import { smLimits } from '../../domain/gpu/gpu'
import {
  builtArchitecture,
  capabilityOf,
  ownArchitecture,
  buildRung,
  type BuildOutcome,
  openCompiler,
} from '../run/build'
import type { LabPlan } from './plan'
import { submissionId } from '../../domain/labs/judge'

/** The occupancy derived from registers and static shared memory, by threads per block. */
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

export interface LabBuild {
  /** `sm_90`. */
  architecture: string
  /** false if there is no GPU, and it is compiled for that of the recordings. */
  own: boolean
  outcome: BuildOutcome
}

/** Throws `missing` if this machine has no compiler. */
export async function buildSubmission(
  machine: Machine,
  lab: LabPlan,
  signal: AbortSignal,
): Promise<LabBuild> {
  const compiler = await openCompiler(
    { toolbox: machine.toolbox(null), cache: machine.cache },
    await readSharedFiles(lab.library.root, 'include'),
    signal,
  )
  const planned = lab.plan.rungs.find(({ rung }) => rung.id === submissionId)!
  const own = await ownArchitecture(compiler, lab.library.root)
  const sm = builtArchitecture(planned.rung.header.requires, own)
  return {
    architecture: `sm_${sm}`,
    own: own !== null,
    outcome: await buildRung(compiler, lab.plan, planned, sm),
  }
}

/** The same, but a missing compiler is a reason instead of an error. */
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
