/** Options that commands share, and what is parsed of them into a request; every invalid value is named in the error. */
import type { Command } from 'commander'
import type { SetUp } from '../../adapters/machine/machine'
import { type Task, maxSize } from '../../domain/task/task'
import { RunRequest } from '../../contract/index'
import { inputError } from '../../domain/errors'
import { profileLevels, type ProfileLevel } from '../../domain/metrics/metric-definition'
import { type CacheState, TimingWay, timingWays } from '../../domain/session/session'
import { can, labTargets, LabTarget, parseTarget, targetUsage } from '../../domain/target/targets'
import type { At, Choice } from '../../domain/task/problem'

// The options that the names of tasks give to commands; apart from reading their values, which needs the whole contract.

/** An option `--NAME <value>`. */
export interface NamedOption {
  name: string
  kind: 'size' | 'scalar' | 'option'
  /** For a size: its maximum over all tasks. */
  max: number
  help: string
}

/** An option for each name of any task, except for names that the command already uses. */
function namedOptions(tasks: Iterable<Task>, taken: ReadonlySet<string>): NamedOption[] {
  const found = new Map<string, NamedOption>()
  const add = (option: NamedOption): void => {
    const known = found.get(option.name)
    if (known) known.max = Math.max(known.max, option.max)
    else if (!taken.has(option.name)) found.set(option.name, option)
  }
  for (const task of tasks) {
    for (const [name, { title, max }] of Object.entries(task.sizes))
      add({ name, kind: 'size', max, help: title ?? `size of ${task.title}` })
    for (const [name, { title }] of Object.entries(task.scalars))
      add({
        name,
        kind: 'scalar',
        max: 0,
        help: `${title ?? task.formula ?? task.title} (default: the ladder’s)`,
      })
    for (const [name, { title, choices }] of Object.entries(task.options))
      add({
        name,
        kind: 'option',
        max: 0,
        help: `${title ?? name}: ${Object.keys(choices).join(', ')} (default: the ladder’s)`,
      })
  }
  return [...found.values()]
}

// What the definitions of commands share.

/** Where a command is added, and what it answers with. */
export interface CommandLine {
  cli: Command
  setUp: SetUp
  finish: (code: number) => void
  /** Their names become options of the command that is run. */
  tasks: readonly Task[]
  /** The words that are parsed, for commands that pass them on. */
  given: readonly string[]
}

export const json = ['--json', 'print exactly one JSON document to stdout'] as const

/** Collects the values of an option that may be given several times. */
export const repeated = (word: string, words: string[] = []): string[] => [...words, word]

export const ladderHelp = 'the id of a ladder, or a folder that contains ladder.yaml'
export const trust = [
  '--trust',
  'allow building and running the code of this ladder folder from now on',
] as const

export const gpu = [
  '--gpu <n>',
  'which GPU of a machine with several, as nvidia-smi numbers them (default: CUDA’s first)',
] as const

export const noWait = [
  '--no-wait',
  'exit with 3 instead of waiting when another run is using the GPU',
] as const

export const warm = [
  '--warm',
  'leave L2 as the launch before left it; by default it is emptied before each timed launch',
] as const

/** What L2 is to hold when a launch is timed. */
export const cacheStateOf = ({ warm: isWarm }: { warm?: boolean | undefined }): CacheState =>
  isWarm ? 'warm' : 'cold'

export const rungTimeout = [
  '--timeout <seconds>',
  'a rung counts as hung after this long without progress (default: 60)',
] as const

/** Adds the options that select a problem; returns those named by the tasks. */
export function addProblemOptions(
  command: Command,
  tasks: Iterable<Task>,
  size: string,
): NamedOption[] {
  const taken = new Set(command.options.map((option) => option.attributeName()))
  const named = namedOptions(tasks, new Set([...taken, 'size', 'at']))
  command.option('--size <n>', size)
  for (const { name, help } of named) command.option(`--${name} <${name}>`, help)
  command.option('--at <NAME=value>', 'set any name of the ladder’s task (repeatable)', repeated)
  return named
}

// Values of options.

/** The options that select a problem; a task adds one for each of its names. */
export interface ProblemOptions {
  size?: string
  at?: string[]
}

export interface RunOptions extends ProblemOptions {
  ladder: string
  rungs?: string
  /** With `commits`: whose. */
  rung?: string
  commits?: string
  param?: string[]
  target: string
  /** `card` unless given; `none` with --watch. */
  profile?: string
  profileSkip?: string
  profileLimit?: string
  out?: string
  timeout?: string
  gpu?: string
  warm?: boolean
  timing?: string
  /** `--no-wait` makes it false. */
  wait: boolean
  /** Of a ladder folder. */
  trust?: boolean
  watch?: boolean
  json?: boolean
}

export function wholeNumber(word: string, name: string, max: number, min = 1): number {
  const value = /^[+-]?\d+$/.test(word) ? Number(word) : NaN
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw inputError(
      `${name} ${JSON.stringify(word)} must be a whole number from ${min} to ${max}.`,
      `For example: ${name} ${Math.min(4096, max)}.`,
    )
  return value
}

/** Counts from 0, as nvidia-smi does. */
export const gpuNumber = (word: string): number => wholeNumber(word, '--gpu', 255, 0)

/** Splits a comma-separated list. */
export const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

/** `4096` is a number, `bf16` a word; whether the value fits is decided by what the name stands for. */
const numberOrWord = (word: string): number | string =>
  word.trim() !== '' && Number.isFinite(Number(word)) ? Number(word) : word

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

/** The problem that the options select; whether the ladder's task has these names is checked later. */
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

function realNumber(word: string | undefined, name: string): number | undefined {
  if (word === undefined) return undefined
  const value = word.trim() === '' ? NaN : Number(word)
  if (!Number.isFinite(value))
    throw inputError(
      `${name} ${JSON.stringify(word)} is not a number.`,
      `For example: ${name} 0.5.`,
    )
  return value
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
    throw inputError('--rungs lists no rungs.', 'For example: --rungs 01_naive,02_coalesced.')
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
      `--timing ${JSON.stringify(options.timing)} is not a way of timing.`,
      `Ways: ${timingWays.join(', ')}.`,
    )
  const gpu = options.gpu === undefined ? undefined : gpuNumber(options.gpu)
  const { needsGpu, elsewhere, replays } = can(parseTarget(options.target)!)
  if (timing.data === 'burst' && !needsGpu && !elsewhere && !replays)
    throw inputError(`--timing does not go with --target ${options.target}, which times nothing.`)
  if (gpu !== undefined && !needsGpu && !elsewhere)
    throw inputError(
      `--gpu does not go with --target ${options.target}, which uses no GPU of this machine.`,
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

/** `3/40`: the third of forty parts. */
export function parsePart(word: string): { number: number; of: number } {
  const [, number, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(word) ?? []
  const part = { number: Number(number), of: Number(of) }
  if (of !== undefined && part.number >= 1 && part.number <= part.of) return part
  throw inputError(`--part ${JSON.stringify(word)} is not of the form 3/40.`)
}
