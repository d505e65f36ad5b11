/** Defines options that several commands share. */
import type { Command } from 'commander'
import type { SetUp } from '../../adapters/machine/machine'
import type { CacheState } from '../../domain/session/session'
import { ladderHelpText, namedOptions, type NamedOption, type TaskChoice } from './task-options'

/** The parser that commands are added to, and the callback for a command's exit code. */
export interface CommandLine {
  cli: Command
  setUp: SetUp
  finish: (code: number) => void
  /** Tasks that define options for the command. */
  tasks: TaskChoice
  /** All command-line arguments, for commands that forward them. */
  given: readonly string[]
}

export const json = ['--json', 'print exactly one JSON document to stdout'] as const

/** Collects the values of an option that may occur several times. */
export const repeated = (word: string, words: string[] = []): string[] => [...words, word]

export const ladderHelp = 'the id of a ladder, or a folder that contains ladder.yaml'

export const trust = [
  '--trust',
  'allow building and running the code of this ladder folder from now on',
] as const

export const gpu = [
  '--gpu <n>',
  'the GPU to use, as numbered by nvidia-smi (default: CUDA’s first)',
] as const

export const noWait = [
  '--no-wait',
  'exit with 3 instead of waiting when another run is using the GPU',
] as const

export const warm = [
  '--warm',
  'keep L2 as the previous launch left it; by default, L2 is flushed before each timed launch',
] as const

/** Returns the state of the L2 cache for timed launches. */
export const cacheStateOf = ({ warm: isWarm }: { warm?: boolean | undefined }): CacheState =>
  isWarm ? 'warm' : 'cold'

export const rungTimeout = [
  '--timeout <seconds>',
  'stop a rung as hung after this long without progress (default: 60)',
] as const

/**
 * Adds the options that select a problem. Returns the added options that tasks define. The help
 * shows only the options of the chosen ladder's task.
 */
export function addProblemOptions(
  command: Command,
  choice: TaskChoice,
  size: string,
): NamedOption[] {
  const taken = new Set([
    ...command.options.map((option) => option.attributeName()),
    ...['size', 'at'],
  ])
  const { tasks, ladder } = choice
  const own = namedOptions(ladder ? [ladder.task] : [], taken)
  const others = namedOptions(tasks, new Set([...taken, ...own.map(({ name }) => name)]))
  command.option('--size <n>', size)
  command.option(
    '--at <NAME=value>',
    'set one value of the ladder’s task; the others keep their defaults (repeatable)',
    repeated,
  )
  for (const { name, help } of own) command.option(`--${name} <${name}>`, help)
  for (const { name, help } of others)
    command.addOption(command.createOption(`--${name} <${name}>`, help).hideHelp())
  command.addHelpText('after', ladderHelpText(choice))
  return [...own, ...others]
}
