/** From the words of the command line to a request, each wrong word named. */
import { RunRequest } from '../../contract'
import { inputError } from '../../domain/errors'
import { profileLevels, type ProfileLevel } from '../../domain/metrics/metric-definition'
import { labTargets, LabTarget, targetUsage } from '../../domain/target/targets'
import { dtypes, maxExtent, type Dtype } from '../../domain/task/problem'

export interface SizeOptions {
  size?: string
  m?: string
  n?: string
  k?: string
}

export interface RunOptions extends SizeOptions {
  ladder: string
  rungs?: string
  alpha?: string
  beta?: string
  dtype?: string
  param?: string[]
  target: string
  profile: string
  profileSkip?: string
  profileLimit?: string
  out?: string
  timeout?: string
  flushL2?: boolean
  /** `--no-wait` makes it false. */
  wait: boolean
  json?: boolean
}

export function wholeNumber(word: string, name: string, max: number, min = 1): number {
  const value = /^[+-]?\d+$/.test(word) ? Number(word) : NaN
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw inputError(
      `${name} ${JSON.stringify(word)} is not a whole number from ${min} to ${max}.`,
      `For example ${name} ${Math.min(4096, max)}.`,
    )
  return value
}

export function parseDtype(word: string): Dtype {
  const known = dtypes.find((dtype) => dtype === word)
  if (known) return known
  throw inputError(
    `--dtype ${JSON.stringify(word)} is no type of inputs.`,
    `The types are ${dtypes.join(', ')}.`,
  )
}

/** Words separated by commas. */
export const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

export function parseSize({ size, m, n, k }: SizeOptions): RunRequest['size'] {
  const extents = { m, n, k }
  const given = Object.values(extents).filter((word) => word !== undefined)
  if (size !== undefined) {
    if (given.length > 0)
      throw inputError('--size cannot go with --m, --n and --k.', 'Give one or the other.')
    const extent = wholeNumber(size, '--size', maxExtent)
    return { m: extent, n: extent, k: extent }
  }
  if (given.length === 0) return undefined
  if (m === undefined || n === undefined || k === undefined)
    throw inputError('--m, --n and --k go together.', 'Give all three, or --size for a cube.')
  return {
    m: wholeNumber(m, '--m', maxExtent),
    n: wholeNumber(n, '--n', maxExtent),
    k: wholeNumber(k, '--k', maxExtent),
  }
}

function realNumber(word: string | undefined, name: string): number | undefined {
  if (word === undefined) return undefined
  const value = word.trim() === '' ? NaN : Number(word)
  if (!Number.isFinite(value))
    throw inputError(`${name} ${JSON.stringify(word)} is not a number.`, `For example ${name} 0.5.`)
  return value
}

export function parseParams(given: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    given.map((word) => {
      const [, name, value] = /^([A-Za-z][A-Za-z0-9_]*)=(.+)$/.exec(word) ?? []
      if (name === undefined || value === undefined)
        throw inputError(
          `--param ${JSON.stringify(word)} is not of the form NAME=value.`,
          'For example --param TM=4.',
        )
      return [name, wholeNumber(value, `--param ${name}`, maxExtent, -maxExtent)] as const
    }),
  )
}

const isLevel = (word: string): word is ProfileLevel =>
  profileLevels.some((level) => level === word)

export function parseLabTarget(word: string): LabTarget {
  const parsed = LabTarget.safeParse(word)
  if (parsed.success) return parsed.data
  throw inputError(
    `--target ${JSON.stringify(word)} is not a target.`,
    `Targets of a lab: ${labTargets.join(', ')}.`,
  )
}

export function parseRunRequest(options: RunOptions): RunRequest {
  if (!isLevel(options.profile))
    throw inputError(
      `--profile ${JSON.stringify(options.profile)} is not a level.`,
      `Levels: ${profileLevels.join(', ')}.`,
    )
  if (!RunRequest.shape.target.safeParse(options.target).success)
    throw inputError(
      `--target ${JSON.stringify(options.target)} is not a target.`,
      `Targets: ${targetUsage}.`,
    )
  if (!RunRequest.shape.ladder.safeParse(options.ladder).success)
    throw inputError(
      `There is no ladder named ${JSON.stringify(options.ladder)}.`,
      'See `kernel-ladder ladders`.',
    )
  const rungs = options.rungs === undefined ? undefined : words(options.rungs)
  if (rungs?.length === 0)
    throw inputError('--rungs names no rung.', 'For example --rungs 01_naive,02_coalesced.')
  const profileSkip = options.profileSkip
    ?.split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  const limit = realNumber(options.profileLimit, '--profile-limit')
  if (limit !== undefined && limit <= 0)
    throw inputError('--profile-limit is not above 0.', 'Give it in seconds, for example 30.')
  const size = parseSize(options)
  const alpha = realNumber(options.alpha, '--alpha')
  const beta = realNumber(options.beta, '--beta')
  return {
    ladder: options.ladder,
    ...(rungs ? { rungs } : {}),
    ...(size ? { size } : {}),
    ...(alpha === undefined ? {} : { alpha }),
    ...(beta === undefined ? {} : { beta }),
    ...(options.dtype === undefined ? {} : { dtype: parseDtype(options.dtype) }),
    params: parseParams(options.param ?? []),
    target: options.target,
    profile: options.profile,
    ...(profileSkip ? { profileSkip } : {}),
    ...(limit === undefined ? {} : { profileLimitSeconds: limit }),
  }
}
