/** What an emulated rung comes to: a deep profile, its launches, and the metrics that do not depend on time. */
import { inputError } from '../../domain/errors'
import { buildGpu, gpus, type BuildGpu } from '../../domain/gpu/gpu'
import { message } from '../../domain/messages/message'
import { defaultEmulatedGpu } from '../../domain/target/kinds'
import { sourceName } from '../../adapters/disk/build-cache'
import type { Launched } from '../../adapters/tools/launch-probe'
import { emulatedMetrics, emulatedProfile } from '../../domain/emulation/findings'
import type { Counts } from '../../domain/emulator/site'
import type { MetricValue } from '../../domain/metrics/metrics'
import { staticProfile } from '../../domain/sass/listing'
import type { DeepProfile } from '../../domain/session/deep'
import type { Launch } from '../../domain/session/session'
import type { BuildOutcome } from './build'
import type { ReadyRung } from './emulate'

// The GPUs that can be emulated.

/** Architectures whose machine code the emulator executes. */
const isEmulated = ({ computeCapability }: Pick<BuildGpu, 'computeCapability'>): boolean =>
  Number(computeCapability) <= 9

/** The GPU of that name; throws where the emulator has none like it. */
export function emulatedGpu(name: string | null): { name: string; gpu: BuildGpu } {
  const word = name ?? defaultEmulatedGpu
  const gpu = buildGpu(word)
  const all = gpus.filter(isEmulated).map(({ id }) => id)
  const offered = message('emulation.architectures', { gpus: all.join(', ') })
  if (!gpu) throw inputError(message('asked.noGpu', { gpu: JSON.stringify(word) }), offered)
  if (!isEmulated(gpu))
    throw inputError(
      message('emulation.noArchitecture', {
        gpu: gpu.name,
        computeCapability: gpu.computeCapability,
      }),
      offered,
    )
  return { name: word, gpu }
}

export interface CountedRung {
  deep: DeepProfile
  launches: Launch[]
  /** The launch that executes most, which stands for the rung where launches differ. */
  longest: Launch
  metrics: Record<string, MetricValue>
}

export const notEmulated = message('emulation.notEmulated')

/** `counts` are those of each launch; `launched` what is told of them, which may be at another problem. */
export function countedRung(
  { id, places, job, launched: own }: ReadyRung,
  { kernels }: BuildOutcome,
  counts: readonly Counts[],
  launched: Launched = own,
): CountedRung {
  const { architecture } = job.machineCode[0]!
  const built = places.map(({ kernel, name }) => ({ name, code: kernel, architecture }))
  const deep = emulatedProfile(staticProfile(id, built, sourceName), counts)
  const launches = launched.kernels.map(
    ({ mangled, name, grid, block, dynamicSharedBytes, clusterBlocks }): Launch => {
      const compiled = kernels?.find((kernel) => kernel.name === mangled)
      return {
        ...{ name, grid, block },
        resources: {
          registersPerThread: compiled?.registers ?? null,
          staticSharedBytes: compiled?.staticSharedBytes ?? null,
          dynamicSharedBytes,
          barriers: compiled?.barriers ?? null,
          carveOutBytes: null,
          clusterBlocks,
        },
      }
    },
  )
  const executed = counts.map((each) => each.executed.reduce((sum, one) => sum + one, 0))
  return {
    deep,
    launches,
    longest: launches[executed.indexOf(Math.max(...executed))]!,
    metrics: emulatedMetrics(
      deep.kernels.map(({ instructions }, index) => ({
        opcodes: instructions.map(({ opcode }) => opcode),
        counts: counts[index]!,
      })),
      notEmulated,
    ),
  }
}
