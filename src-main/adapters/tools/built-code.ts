/** The machine code in a library that nvcc built. */
import type { MachineCode, MachineKernel } from '../../domain/sass/machine-code'
import { readCubin } from '../../parsers/cubin/cubin'
import type { Toolbox } from './toolbox'
import type { BuiltKernel } from '../../domain/sass/static-profile'
import { cubinsOf } from '../../parsers/cubin/fat-binary'

interface BuiltCode {
  architecture: number
  /** By mangled name. */
  kernels: ReadonlyMap<string, MachineKernel>
}

/** Null where there is no library, as in a replay, or no machine code in it. */
export async function readBuiltCode(toolbox: Toolbox, library: string): Promise<BuiltCode | null> {
  const bytes = await toolbox.readBuilt(library)
  const [cubin] = bytes ? cubinsOf(bytes) : []
  if (!cubin) return null
  const { architecture, kernels } = readCubin(cubin)
  return { architecture, kernels: new Map(kernels.map((kernel) => [kernel.name, kernel])) }
}

/** Every module in a library; empty where there is no library. */
export async function readModules(toolbox: Toolbox, library: string): Promise<MachineCode[]> {
  const bytes = await toolbox.readBuilt(library)
  return bytes ? cubinsOf(bytes).map((cubin) => readCubin(cubin)) : []
}

/** What is launched, in order; null if a kernel is not in this code. */
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
