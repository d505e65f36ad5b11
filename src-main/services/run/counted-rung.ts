/**
 * Collects an emulated rung's deep profile and launches, and the metrics that do not depend on
 * time.
 */
import { message } from '../../domain/messages/message'
import { sourceName } from '../../adapters/disk/build-cache'
import type { Counts } from '../../domain/emulator/warp'
import type { MetricValue } from '../../domain/metrics/metrics'
import type { DeepProfile } from '../../domain/session/deep'
import type { Launch } from '../../domain/session/session'
import type { ReadyRung } from './emulate'
import type { BuildOutcome } from '../bench/compiler'
import { emulatedMetrics } from '../../domain/emulation/emulated-metrics'
import { emulatedProfile } from '../../domain/emulation/emulated-profile'
import { staticProfile } from '../../domain/sass/static-profile'
import type { Launched } from '../../adapters/tools/launch-probe'

export interface CountedRung {
  deep: DeepProfile
  launches: Launch[]
  /** The launch with the most instructions, which represents the rung. */
  longest: Launch
  metrics: Record<string, MetricValue>
}

export const notEmulated = message('emulation.notEmulated')

/**
 * Returns the rung's profile, launches, and metrics. The values in `counts` are per launch.
 * `launched` may come from a run with another problem.
 */
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
