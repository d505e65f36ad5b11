/** A command on another machine: the words that the user gave go there, and what it prints comes here. */
import type { Setup } from '../../adapters/machine/machine'
import type { Statement } from '../../domain/messages/message'
import { can, parseTarget } from '../../domain/target/targets'
import { inEnglish } from '../../domain/text/text'
import { openTrustedLadder } from '../../services/ladder-library/open'
import { runTasks } from '../../services/machines/remote-array'
import { runWords, type CommandThere } from '../../services/machines/remote-job'
import { sendLadder, sendTree } from '../../services/machines/send-folder'
import { note } from './output'
import { askTrust } from './terminal'

/** The machine that a target names; null if it is none. */
export function machineOf(target: string | undefined): string | null {
  const parsed = target === undefined ? null : parseTarget(target)
  return parsed && can(parsed).elsewhere ? parsed.name : null
}

/** Words with an option set, or left out if `value` is null; `value` is true for one without a value. */
export function withOption(
  words: readonly string[],
  name: string,
  value: string | true | null,
  hasValue = value !== true,
): string[] {
  const kept: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!
    if (word === name) index += hasValue ? 1 : 0
    else if (!word.startsWith(`${name}=`)) kept.push(word)
  }
  return value === null ? kept : [...kept, name, ...(value === true ? [] : [value])]
}

type Change = (words: readonly string[], job: string) => readonly string[]

/** The command, with the ladder folder that is sent along in place of the one here. */
async function commandOn(
  setup: Setup,
  words: readonly string[],
  options: { ladder: string; trust?: boolean },
  change: Change,
): Promise<CommandThere> {
  await askTrust(setup, options.ladder, options)
  const { own } = await openTrustedLadder(setup, options.ladder)
  const there = withOption(words, '--target', null)
  return {
    send: own && ((shell, facts, stop) => sendLadder(shell, facts, own, stop)),
    words: (job, folder) =>
      change(
        folder === null
          ? there
          : withOption(withOption(there, '--ladder', folder), '--trust', true),
        job,
      ),
  }
}

const said = {
  onNote: note,
  onNotice: (notice: Statement, level?: 'info'): void =>
    note(`${level === 'info' ? '' : 'warning: '}${inEnglish(notice)}`),
}

/** Runs a command about a ladder there, on its GPU. `change` edits its words, given the folder of its job. */
export async function ladderCommandThere(
  setup: Setup,
  name: string,
  words: readonly string[],
  options: { ladder: string; trust?: boolean },
  signal: AbortSignal,
  { change = (own) => own, file }: { change?: Change; file?: string } = {},
): Promise<{ code: number; stdout: string; file: string | null }> {
  const command = await commandOn(setup, words, options, change)
  const { folders } = setup.machine
  return runWords(
    folders,
    name,
    { ...command, ...(file === undefined ? {} : { file }) },
    {
      signal,
      ...said,
    },
  )
}

/** Runs a command as an array of Slurm; `{task}` in its words is the number of each task. */
export async function ladderTasksThere(
  setup: Setup,
  name: string,
  words: readonly string[],
  options: { ladder: string; trust?: boolean },
  signal: AbortSignal,
  { tasks, change }: { tasks: number; change: Change },
): Promise<void> {
  const command = await commandOn(setup, words, options, change)
  await runTasks(setup.machine.folders, name, { ...command, tasks }, { signal, ...said })
}

/** Runs a command about a folder there, which is sent as it is now; `change` puts its place there into the words. */
export function folderCommandThere(
  setup: Setup,
  name: string,
  words: readonly string[],
  folder: string,
  signal: AbortSignal,
  change: (words: readonly string[], folder: string) => readonly string[],
): Promise<{ code: number; stdout: string }> {
  return runWords(
    setup.machine.folders,
    name,
    {
      send: (shell, facts, stop) => sendTree(shell, facts, folder, stop),
      words: (_job, sent) => change(withOption(words, '--target', null), sent!),
    },
    { signal, ...said },
  )
}
