/** Converts a command's options to a run request. */
import { maxSize } from '../../domain/task/task'
import { RunRequest } from '../../contract/index'
import { inputError } from '../../domain/errors'
import { profileLevels, type ProfileLevel } from '../../domain/metrics/metric-definition'
import { TimingWay, timingWays } from '../../domain/session/session'
import { can, labTargets, LabTarget, parseTarget, targetUsage } from '../../domain/targets/targets'
import type { At, Choice } from '../../domain/task/problem-request'
import { type NamedOption } from './task-options'
import { wholeNumber, gpuNumber, words, numberOrWord, realNumber } from './option-values'

/** Options that select a problem. A task adds one option per size, scalar and task option. */
export interface ProblemOptions {
  size?: string
  at?: string[]
}

export interface RunOptions extends ProblemOptions {
  ladder: string
  rungs?: string
  /** Rung to run at each commit in `commits`. */
  rung?: string
  commits?: string
  param?: string[]
  target: string
  /** Profile level. The default is `card`, or `none` with --watch. */
  profile?: string
  profileSkip?: string
  profileLimit?: string
  out?: string
  timeout?: string
  gpu?: string
  warm?: boolean
  timing?: string
  /** Whether to wait for the GPU. False with `--no-wait`. */
  wait: boolean
  /** Whether to trust the ladder folder. */
  trust?: boolean
  watch?: boolean
  json?: boolean
}

function parseAt(words: readonly string[]): [string, number | string][] {
  return words.map((word) => {
    const [, name, value] = /^([A-Za-z]\w*)=(.+)$/.exec(word) ?? []
    if (name === undefined || value === undefined)
      throw inputError(
        `--at ${JSON.stringify(word)} is not of the form NAME=VALUE.`,
        'See `kernel-ladder ladders` for the names of a ladder’s task.',
      )
    return [name, numberOrWord(value)]
  })
}

function valueOf({ name, kind, max }: NamedOption, word: string): number | string {
  if (kind === 'size') return wholeNumber(word, `--${name}`, max)
  return kind === 'scalar' ? realNumber(word, `--${name}`)! : word
}

/**
 * Returns the problem that the options select. The option names are compared with the ladder's task
 * later.
 */
export function parseChoice(options: ProblemOptions, named: readonly NamedOption[]): Choice {
  const words = options as Readonly<Record<string, unknown>>
  const given: [string, number | string][] = [
    ...named.flatMap((option): [string, number | string][] => {
      const word = words[option.name]
      return typeof word === 'string' ? [[option.name, valueOf(option, word)]] : []
    }),
    ...parseAt(options.at ?? []),
  ]
  const twice = given.find(([name], index) => given.findIndex(([other]) => other === name) < index)
  if (twice) throw inputError(`${twice[0]} was given twice.`)
  const at: At = Object.fromEntries(given)
  return {
    ...(options.size === undefined ? {} : { size: wholeNumber(options.size, '--size', maxSize) }),
    ...(given.length === 0 ? {} : { at }),
  }
}

export function parseParams(given: readonly string[]): Record<string, number> {
  const params: Record<string, number> = {}
  for (const word of given) {
    const [, name, value] =
      /^((?:[A-Za-z0-9][A-Za-z0-9_.-]*\.)?[A-Za-z][A-Za-z0-9_]*)=(.+)$/.exec(word) ?? []
    if (name === undefined || value === undefined)
      throw inputError(
        `--param ${JSON.stringify(word)} is not of the form NAME=value or RUNG.NAME=value.`,
        'For example: --param TM=4.',
      )
    if (Object.hasOwn(params, name)) throw inputError(`--param ${name} is given twice.`)
    params[name] = wholeNumber(value, `--param ${name}`, maxSize, -maxSize)
  }
  return params
}

const isLevel = (word: string): word is ProfileLevel =>
  profileLevels.some((level) => level === word)

export function parseLabTarget(word: string): LabTarget {
  const parsed = LabTarget.safeParse(word)
  if (parsed.success) return parsed.data
  throw inputError(
    `--target ${JSON.stringify(word)} is not a target.`,
    `Targets for a lab: ${labTargets.join(', ')}.`,
  )
}

export function parseRunRequest(options: RunOptions, named: readonly NamedOption[]): RunRequest {
  const { profile = options.watch ? 'none' : 'card' } = options
  if (!isLevel(profile))
    throw inputError(
      `--profile ${JSON.stringify(profile)} is not a profiling level.`,
      `Levels: ${profileLevels.join(', ')}.`,
    )
  if (!RunRequest.shape.target.safeParse(options.target).success)
    throw inputError(
      `--target ${JSON.stringify(options.target)} is not a target.`,
      `Targets: ${targetUsage}.`,
    )
  const rungs = options.rungs === undefined ? undefined : words(options.rungs)
  if (rungs?.length === 0)
    throw inputError('--rungs is empty.', 'For example: --rungs 01_naive,02_coalesced.')
  const profileSkip = options.profileSkip
    ?.split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  const limit = realNumber(options.profileLimit, '--profile-limit')
  if (limit !== undefined && limit <= 0)
    throw inputError(
      '--profile-limit must be greater than 0.',
      'Give it in seconds, for example: 30.',
    )
  const timing = TimingWay.safeParse(options.timing ?? 'single')
  if (!timing.success)
    throw inputError(
      `--timing ${JSON.stringify(options.timing)} is not a timing mode.`,
      `Modes: ${timingWays.join(', ')}.`,
    )
  const gpu = options.gpu === undefined ? undefined : gpuNumber(options.gpu)
  const { needsGpu, elsewhere, replays } = can(parseTarget(options.target)!)
  if (timing.data === 'burst' && !needsGpu && !elsewhere && !replays)
    throw inputError(
      `--timing cannot be used with --target ${options.target}, which times nothing.`,
    )
  if (gpu !== undefined && !needsGpu && !elsewhere)
    throw inputError(
      `--gpu cannot be used with --target ${options.target}, which uses no GPU of this machine.`,
    )
  return {
    ladder: options.ladder,
    ...(gpu === undefined ? {} : { gpu }),
    ...(rungs ? { rungs } : {}),
    ...parseChoice(options, named),
    params: parseParams(options.param ?? []),
    target: options.target,
    profile,
    ...(timing.data === 'single' ? {} : { timing: timing.data }),
    ...(profileSkip ? { profileSkip } : {}),
    ...(limit === undefined ? {} : { profileLimitSeconds: limit }),
  }
}
