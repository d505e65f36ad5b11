/**
 * Chooses the kernel for which a ladder is proposed, and the launch on which the proposal is based.
 */
import { inputError } from '../../../domain/errors'
import type { Statement } from '../../../domain/messages/message'
import { inEnglish } from '../../../domain/text/english'
import type { KernelLaunch, LaunchedParameter } from '../../../domain/proposal/proposal'
import {
  parameterKind,
  type ParameterKind,
  type Signature,
} from '../../../domain/proposal/signature'
import type { MachineKernel } from '../../../domain/sass/machine-code'
import type { RecordedLaunch } from '../../../adapters/sandbox/record-main'
import type { SourceFunction } from '../../../domain/proposal/source'

export interface NamedKernel {
  kernel: MachineKernel
  signature: Signature
}

interface ChooseCall {
  /** File name to show in messages. */
  file: string
  /** Value of --kernel. */
  wanted: string | undefined
  /** Kernels compiled from the file itself, without library kernels. */
  compiled: readonly NamedKernel[]
  /** Functions in the file and its headers. */
  kernels: readonly SourceFunction[]
  launches: readonly RecordedLaunch[]
  /** Reason that main() was stopped. Null if main() ended normally or does not exist. */
  stopped: Statement | null
}

export interface ChosenKernel extends NamedKernel {
  source: SourceFunction
  /** The kernel's first launch, or null if no launch was recorded. */
  launch: RecordedLaunch | null
  /** Number of distinct kernel launches. */
  launches: number
}

/**
 * Returns the error for a kernel that has no array parameter. A ladder can read results only from
 * arrays.
 */
export const noArray = (file: string, kernel: string) =>
  inputError(
    `${file}: ${kernel} has no array among its parameters, so a ladder could not check what it computes.`,
  )

const plain = (text: string): string => text.replace(/\s+/g, '')

const listed = (names: Iterable<string>): string => [...new Set(names)].join(', ')

/**
 * Returns the chosen kernel. Throws an error if the file has no kernel, or if it has several
 * kernels and the user named no kernel.
 */
export function chooseKernel({
  file,
  wanted,
  compiled,
  kernels,
  launches,
  stopped,
}: ChooseCall): ChosenKernel {
  const launched = compiled.filter(({ kernel }) =>
    launches.some(({ mangled }) => mangled === kernel.name),
  )
  const fits = ({ signature }: NamedKernel): boolean =>
    wanted === undefined || signature.base === wanted || plain(signature.call) === plain(wanted)
  const base = wanted?.replace(/<.*$/s, '').split('::').at(-1)!.trim()
  if (wanted !== undefined && !kernels.some(({ name }) => name === base))
    throw inputError(
      `${file} has no kernel ${JSON.stringify(wanted)}.`,
      `Its kernels are: ${listed(kernels.map(({ name }) => name))}.`,
    )
  const candidates = (launched.some(fits) ? launched : compiled).filter(fits)
  const bare = kernels.find(({ name }) => wanted === undefined || name === base)
  if (candidates.length === 0 && bare?.parameters.length === 0) throw noArray(file, bare.name)
  if (candidates.length === 0) {
    const template = kernels.find(
      ({ name, isTemplate }) => isTemplate && (wanted === undefined || name === base),
    )
    throw template
      ? inputError(
          `The kernel ${template.name} of ${file} is a template, and the file uses no instance of it.`,
          `Launch it in the file, or add an instance: template __global__ void ${template.name}<…>(…);`,
        )
      : inputError(
          `${file} has no machine code for ${wanted ?? 'its kernels'}.`,
          `Its instances are: ${listed(compiled.map(({ signature }) => signature.call)) || 'none'}.`,
        )
  }
  const bases = [...new Set(candidates.map(({ signature }) => signature.base))]
  if (bases.length > 1)
    throw inputError(
      launched.length > 0
        ? `${file} launches ${bases.length} kernels.`
        : `${file} has ${bases.length} kernels${stopped === null ? '' : `, and its main() was stopped before it launched one: ${inEnglish(stopped)}`}.`,
      `Choose one with --kernel: ${bases.join(', ')}.`,
    )
  const inOrder = launches.filter(({ mangled }) =>
    candidates.some(({ kernel }) => kernel.name === mangled),
  )
  const launch = inOrder[0] ?? null
  const chosen = candidates.find(({ kernel }) => kernel.name === launch?.mangled) ?? candidates[0]!
  const own = inOrder.filter(({ mangled }) => mangled === chosen.kernel.name)
  const count = chosen.kernel.parameters.list.length
  const sources = kernels.filter(({ name }) => name === chosen.signature.base)
  const source = sources.find(({ parameters }) => parameters.length === count) ?? sources[0]!
  return { ...chosen, source, launch, launches: own.length }
}

type Supported = Exclude<ParameterKind, { kind: 'unsupported' }>

interface TypedParameter {
  name: string
  kind: Supported
}

/**
 * Returns the kernel's parameters and their types. Throws an error for a parameter type that a
 * ladder cannot pass.
 */
export function typedParameters(
  file: string,
  { kernel, signature, source }: ChosenKernel,
): TypedParameter[] {
  const types = signature.types ?? source.parameters.map(({ type }) => type)
  return kernel.parameters.list.map((_, index): TypedParameter => {
    const name = source.parameters[index]?.name ?? `argument${index + 1}`
    const handle = /\bcuda(?:Texture|Surface)Object_t\b/.exec(source.parameters[index]?.type ?? '')
    const kind: ParameterKind = handle
      ? { kind: 'unsupported', why: `is a ${handle[0]}` }
      : parameterKind(types[index] ?? 'unknown')
    if (kind.kind === 'unsupported')
      throw inputError(
        `${file}: the parameter ${name} of ${signature.call} ${kind.why}.`,
        'A ladder passes arrays of numbers, integers, float and double.',
      )
    return { name, kind }
  })
}

const bytesOf = (hexadecimal: string): Uint8Array => new Uint8Array(Buffer.from(hexadecimal, 'hex'))

function numberAt(view: DataView, offset: number, kind: Supported): number {
  if (kind.kind === 'real')
    return kind.dtype === 'f32' ? view.getFloat32(offset, true) : view.getFloat64(offset, true)
  if (kind.kind !== 'integer') return 0
  const { bytes, signed } = kind
  if (bytes === 8)
    return Number(signed ? view.getBigInt64(offset, true) : view.getBigUint64(offset, true))
  if (bytes === 4) return signed ? view.getInt32(offset, true) : view.getUint32(offset, true)
  if (bytes === 2) return signed ? view.getInt16(offset, true) : view.getUint16(offset, true)
  return signed ? view.getInt8(offset) : view.getUint8(offset)
}

/** Returns the launch recorded from the program. */
export function recordedLaunch(
  file: string,
  chosen: ChosenKernel,
  launch: RecordedLaunch,
): KernelLaunch {
  const bytes = bytesOf(launch.arguments ?? '')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parameters = typedParameters(file, chosen).map(
    ({ name, kind }, index): LaunchedParameter => {
      const { offset } = chosen.kernel.parameters.list[index]!
      const value = numberAt(view, offset, kind)
      if (kind.kind !== 'pointer') return { name, kind, value, pointer: null }
      const found = launch.pointers.find(({ parameter }) => parameter === index)
      if (!found && view.getBigUint64(offset, true) !== 0n)
        throw inputError(
          `${file} launches ${chosen.signature.call} with a pointer ${name} to memory that it did not allocate with CUDA.`,
        )
      return {
        ...{ name, kind, value },
        pointer: found
          ? {
              allocation: found.allocation,
              offset: found.offset,
              bytes: found.bytes,
              pieces: found.filled
                ? found.sample.map(({ at, data }) => ({ at, data: bytesOf(data) }))
                : null,
            }
          : null,
      }
    },
  )
  const { grid, block, dynamicSharedBytes } = launch
  return { parameters, grid, block, dynamicSharedBytes, wasRecorded: true }
}

/** Returns a launch with placeholder numbers, for a kernel without a recorded launch. */
export function inventedLaunch(file: string, chosen: ChosenKernel): KernelLaunch {
  const typed = typedParameters(file, chosen)
  const integers = typed.filter(({ kind }) => kind.kind === 'integer' && kind.bytes > 1).length
  const size = integers <= 1 ? 65536 : integers === 2 ? 256 : 64
  const elements = integers === 0 ? 65536 : size ** Math.min(integers, 3)
  const parameters = typed.map(({ name, kind }, index): LaunchedParameter => ({
    ...{ name, kind },
    value: kind.kind === 'integer' ? (kind.bytes > 1 ? size : 1) : 1,
    pointer:
      kind.kind === 'pointer'
        ? { allocation: index, offset: 0, bytes: elements * pointedBytes(kind), pieces: null }
        : null,
  }))
  const limit = chosen.kernel.requiredThreads ?? chosen.kernel.maxThreads
  const flat = integers <= 1
  const block: KernelLaunch['block'] =
    chosen.kernel.requiredThreads ??
    (flat ? [Math.min(256, limit ? limit[0] * limit[1] * limit[2] : 256), 1, 1] : [16, 16, 1])
  const grid: KernelLaunch['grid'] = flat
    ? [Math.ceil(size / block[0]), 1, 1]
    : [Math.ceil(size / block[0]), Math.ceil(size / block[1]), 1]
  return { parameters, grid, block, dynamicSharedBytes: 0, wasRecorded: false }
}

const pointedBytes = ({ dtype }: { dtype: string }): number =>
  /64$/.test(dtype) ? 8 : /32$/.test(dtype) ? 4 : /16$/.test(dtype) ? 2 : 1
