/** Reads the machine code in a library that nvcc built. */
import type { MachineCode, MachineKernel } from '../../domain/sass/machine-code'
import { readCubin } from '../../parsers/cubin/cubin'
import type { Toolbox } from './toolbox'
import type { Build } from '../../domain/session/session'
import { KernelLadderError } from '../../domain/errors'
import { staticShared } from '../../domain/emulator/rung'
import type { Statement } from '../../domain/messages/message'
import { isElf } from '../../parsers/cubin/elf'
import { summarizeBuild, type PtxasKernel } from '../../parsers/cuda/ptxas'
import type { BuiltKernel } from '../../domain/sass/static-profile'
import { cubinsOf } from '../../parsers/cubin/fat-binary'

interface BuiltCode {
  architecture: number
  /** The library's kernels, by mangled name. */
  kernels: ReadonlyMap<string, MachineKernel>
}

/**
 * Reads a library's machine code. Returns null if there is no library, as in a replay, or if the
 * library contains no machine code.
 */
export async function readBuiltCode(
  toolbox: Toolbox,
  library: string,
  architecture?: number,
): Promise<BuiltCode | null> {
  const modules = await readModules(toolbox, library, architecture)
  const [first] = modules
  if (!first) return null
  const kernels = modules
    .filter((module) => module.architecture === first.architecture)
    .flatMap((module) => module.kernels)
  return {
    architecture: first.architecture,
    kernels: new Map(kernels.map((kernel) => [kernel.name, kernel])),
  }
}

/**
 * Returns all modules of a library, or an empty list if there is no library. If a library contains
 * code for several GPU architectures, the last argument selects one, such as 90 for compute
 * capability 9.0.
 */
export async function readModules(
  toolbox: Toolbox,
  library: string,
  architecture?: number,
): Promise<MachineCode[]> {
  const bytes = await toolbox.readBuilt(library)
  const modules = bytes ? cubinsOf(bytes).map((cubin) => readCubin(cubin)) : []
  const own = modules.filter((module) => module.architecture === architecture)
  return own.length > 0 ? own : modules
}

/**
 * Returns the launched kernels in order. Returns null if the code does not contain all launched
 * kernels.
 */
export function launchedKernels(
  { architecture, kernels }: BuiltCode,
  launches: readonly { mangled: string; name: string }[],
): BuiltKernel[] | null {
  const found: BuiltKernel[] = []
  for (const { mangled, name } of launches) {
    const code = kernels.get(mangled)
    if (!code) return null
    found.push({ name, code, architecture })
  }
  return found
}

/**
 * Inspects a cubin that this program did not build. Returns the cubin's architecture and whether it
 * contains kernels, or the reason why the cubin is unreadable.
 */
export function inspectCubin(
  cubin: Uint8Array,
): { architecture: number; hasKernels: boolean } | { unreadable: Statement } {
  try {
    const { architecture, kernels } = readCubin(cubin)
    return { architecture, hasKernels: kernels.length > 0 }
  } catch (error) {
    if (!(error instanceof KernelLadderError) || error.kind !== 'input') throw error
    return { unreadable: error.statement }
  }
}

export const isLibrary = isElf

/**
 * Returns the kernels' resource usage in ptxas's format. Machine code does not distinguish spills
 * from other local memory.
 */
export const kernelsOf = (modules: readonly MachineCode[]): PtxasKernel[] =>
  modules.flatMap(({ architecture, kernels }) =>
    kernels.map((kernel) => ({
      name: kernel.name,
      architecture: `sm_${architecture}`,
      registers: kernel.registers ?? 0,
      staticSharedBytes: staticShared(kernel, architecture),
      constantBytes: 0,
      spillStoreBytes: 0,
      spillLoadBytes: 0,
      stackBytes: kernel.frameBytes,
      barriers: kernel.barriers,
    })),
  )

/** Returns the build result for kernels that this program did not build. */
export const builtElsewhere = (
  kernels: readonly PtxasKernel[],
): Omit<Build, 'seconds' | 'cached'> => ({
  ...summarizeBuild(kernels),
  spillStoreBytes: null,
  spillLoadBytes: null,
})
