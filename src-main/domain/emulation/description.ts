/** Compares the host code's launch descriptions with the compiled machine code. */
import { message, type AnyMessage } from '../messages/message'
import type { MachineCode } from '../sass/machine-code'

interface DescribedLaunches {
  kernels: readonly { mangled: string; arguments?: string | undefined }[]
  symbols: readonly string[]
}

/** Returns the reason that the described launches do not match the code, or null if they match. */
export function descriptionFault(
  modules: readonly MachineCode[],
  { kernels, symbols }: DescribedLaunches,
): AnyMessage | null {
  const sizes = new Map(
    modules.flatMap((module) =>
      module.kernels.map(({ name, parameters }) => [
        name,
        Math.max(0, ...parameters.list.map(({ offset, size }) => offset + size)),
      ]),
    ),
  )
  const variables = new Set(
    modules.flatMap(({ globals, constantVariables }) =>
      [...globals, ...constantVariables].map(({ name }) => name),
    ),
  )
  for (const { mangled, arguments: words } of kernels) {
    const bytes = sizes.get(mangled)
    if (bytes === undefined) return message('emulation.noSuchKernel', { name: mangled })
    if (words !== undefined && words.length !== 2 * bytes)
      return message('emulation.wrongArguments', {
        name: mangled,
        bytes: words.length / 2,
        expected: bytes,
      })
  }
  const unknown = symbols.find((name) => !variables.has(name))
  return unknown === undefined ? null : message('emulation.noSuchVariable', { name: unknown })
}
