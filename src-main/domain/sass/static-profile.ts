/**
 * Creates the profile of a rung that was compiled but not run. The profile contains instructions
 * and source lines without counters.
 */
import { message, type Statement } from '../messages/message'
import {
  deepSchemaVersion,
  notCounted,
  type DeepKernel,
  type DeepProfile,
  type Instruction,
  type SourceLine,
} from '../session/deep'
import { listingOf } from './listing'
import type { MachineKernel } from './machine-code'

export interface BuiltKernel {
  /** Kernel name, as in the launch. */
  readonly name: string
  readonly code: MachineKernel
  readonly architecture: number
}

/**
 * Returns a rung's profile. `nameOf` maps a path from the compiler to a file name in the session.
 */
export function staticProfile(
  rung: string,
  launched: readonly BuiltKernel[],
  nameOf: (path: string) => string,
): DeepProfile {
  const notes: Statement[] = [message('deep.notCounted')]
  return {
    schema: deepSchemaVersion,
    rung,
    kernels: launched.map((kernel) => toKernel(kernel, nameOf, notes)),
    notes,
  }
}

function toKernel(
  { name, code, architecture }: BuiltKernel,
  nameOf: (path: string) => string,
  notes: Statement[],
): DeepKernel {
  if (code.lines.length === 0) notes.push(message('deep.noLines', { kernel: name }))
  const { instructions, unknown } = listingOf(code, architecture, nameOf)
  notes.push(...unknown)
  const lines = new Map<string, SourceLine>()
  for (const { file, line } of instructions.flatMap(({ places }) => places))
    lines.set(`${file}:${line}`, { file, line, text: null, ...notCounted })
  return {
    name,
    instructions: instructions.map(({ places, ...instruction }, index): Instruction => {
      const [place, ...inlinedFrom] = places
      return {
        index,
        ...instruction,
        file: place?.file ?? null,
        line: place?.line ?? null,
        ...(inlinedFrom.length > 0 ? { inlinedFrom } : {}),
        ...notCounted,
      }
    }),
    lines: [...lines.values()],
    opcodes: null,
    rules: [],
  }
}
