/**
 * Finds functions in a user's file that a ladder can call unchanged: the kernel's launcher and a
 * CPU function that computes the same result.
 */
import type { Proposal } from '../../../domain/proposal/proposal'
import { parameterKind } from '../../../domain/proposal/signature'
import type { Origin, ReferenceArgument } from '../../../domain/proposal/write'
import type { SourceFunction } from '../../../domain/proposal/source'
import type { ChosenKernel } from './choose-kernel'

/** Strips casts, `const`, and parentheses from an expression, so that `(float*)x` becomes `x`. */
const bare = (expression: string): string =>
  expression.replace(/^\s*(?:\([\w\s:*&]+\*?\)\s*)+(?=\w)/, '').trim()

/**
 * Matches functions that allocate or copy memory, which are part of the program's setup and not
 * launchers.
 */
const isProgram = /\bcuda(?:Malloc\w*|Memcpy|Free)\s*\(/

/**
 * Returns a function that launches the kernel and whose parameters all have known values. Returns
 * null if there is no such function. The call's arguments are C++ expressions that refer to the
 * launch struct.
 */
export function ownLauncher(
  functions: readonly SourceFunction[],
  chosen: ChosenKernel,
  proposal: Proposal,
): Origin['launcher'] {
  for (const candidate of functions) {
    const { name, isKernel, isTemplate, parameters, launches, body } = candidate
    if (isKernel || isTemplate || name === 'main' || isProgram.test(body)) continue
    const launch = launches.find(({ kernel }) => kernel === chosen.signature.base)
    if (!launch || launch.arguments.length !== chosen.kernel.parameters.list.length) continue
    const guesses: string[] = []
    const given = parameters.map((parameter): string | null => {
      const place = launch.arguments.findIndex((argument) => bare(argument) === parameter.name)
      if (place >= 0) return proposal.arguments[place]!
      if (/\bcudaStream_t\b/.test(parameter.type)) return 'stream'
      const isThreads = /block|threads/i.test(parameter.name ?? '') && !parameter.isPointer
      if (!isThreads || !/\b(?:int|unsigned|size_t)\b/.test(parameter.type)) return null
      const [x, y, z] = proposal.block
      guesses.push(`${parameter.name} is the number of threads of a block, ${x * y * z}`)
      return String(x * y * z)
    })
    const reached = (place: number): boolean =>
      !proposal.arguments[place]!.includes('*)') ||
      parameters.some((parameter) => bare(launch.arguments[place]!) === parameter.name)
    if (given.some((argument) => argument === null)) continue
    if (!launch.arguments.every((_, place) => reached(place))) continue
    return { name, arguments: given.map((argument) => argument!), guesses }
  }
  return null
}

const cpuName = /cpu|host|ref|gold|verify|serial|sequential/i

/**
 * Strips prefixes from array names, because host and device copies of an array `x` are often named
 * h_x and d_x.
 */
const stem = (name: string | null): string =>
  (name ?? '').replace(/^(?:d|h|g|dev|host|device|cpu|gpu)_/i, '').toLowerCase()

/**
 * Whether two types are interchangeable for a caller, such as two pointers to the same element type
 * or two numbers of the same kind.
 */
function isAlike(a: string, b: string): boolean {
  const [one, other] = [parameterKind(a), parameterKind(b)]
  if (one.kind === 'pointer' && other.kind === 'pointer')
    return one.dtype === other.dtype && one.lanes === other.lanes
  return one.kind === other.kind && one.kind !== 'unsupported'
}

export interface OwnReference {
  name: string
  arguments: ReferenceArgument[]
}

/**
 * Returns a CPU function whose parameters match the kernel's parameters by name, or by type and
 * order. Returns null if there is no such function.
 */
export function ownReference(
  functions: readonly SourceFunction[],
  types: readonly string[],
  names: readonly string[],
  proposal: Proposal,
): OwnReference | null {
  const written = proposal.buffers.filter(({ access }) => access !== 'in').map(({ name }) => name)
  for (const { name, isKernel, isTemplate, parameters, launches, body } of functions) {
    if (isKernel || isTemplate || !cpuName.test(name) || launches.length > 0) continue
    const byName = parameters.map((parameter) =>
      names.findIndex((own) => stem(own) === stem(parameter.name)),
    )
    const inOrder = parameters.length === types.length ? parameters.map((_, index) => index) : []
    const places = [byName, inOrder].find(
      (list) =>
        list.length === parameters.length &&
        list.length > 0 &&
        list.every((place, index) => place >= 0 && isAlike(parameters[index]!.type, types[place]!)),
    )
    if (!places || new Set(places).size !== places.length) continue
    const given = places.map((place): ReferenceArgument => {
      const text = proposal.arguments[place]!
      const [, buffer] = /\*\)p->(\w+)$/.exec(text) ?? []
      return buffer === undefined ? { text } : { buffer }
    })
    // The function's body must assign to the output.
    const assigned = parameters.filter((parameter) =>
      new RegExp(
        `\\b${parameter.name}\\s*\\[[^;=]*\\]\\s*[-+*/]?=(?!=)|\\*\\s*${parameter.name}\\s*[-+]?=(?!=)`,
      ).test(body),
    )
    const results = places.flatMap((_, index) => {
      const argument = given[index]!
      return 'buffer' in argument && assigned.includes(parameters[index]!) ? [argument.buffer] : []
    })
    if (results.length > 0 && written.every((buffer) => results.includes(buffer)))
      return { name, arguments: given }
  }
  return null
}
