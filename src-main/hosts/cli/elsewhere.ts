/**
 * Runs a command on a remote machine. Sends the command's arguments to the machine and prints the
 * remote output locally.
 */
import { readPlainBytes } from '../../adapters/disk/disk'
import { sendFolder, sendLadder, sendTree } from '../../adapters/remote/remote-host'
import type { Setup } from '../../adapters/machine/machine'
import type { Statement } from '../../domain/messages/message'
import { can, parseTarget } from '../../domain/targets/targets'
import { inEnglish } from '../../domain/text/english'
import { openTrustedLadder } from '../../services/folders/open'
import { runTasks } from '../../services/remote/remote-array'
import { runWords, type CommandThere } from '../../services/remote/remote-job'
import { note } from './output'
import { askTrust } from './ask'

/** Returns the machine that a target names, or null for a local target. */
export function machineOf(target: string | undefined): string | null {
  const parsed = target === undefined ? null : parseTarget(target)
  return parsed && can(parsed).elsewhere ? parsed.name : null
}

/**
 * Returns the arguments with an option set, or without the option if `value` is null. For an option
 * without a value, `value` is true.
 */
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

/**
 * Files that a ladder command needs on the remote machine, including the file given with `--from`.
 */
interface LadderCommand {
  ladder: string
  trust?: boolean
  from?: string
}

/** Returns the command with the remote paths of the ladder folder and the file. */
async function commandOn(
  setup: Setup,
  words: readonly string[],
  options: LadderCommand,
  change: Change,
): Promise<CommandThere> {
  await askTrust(setup, options.ladder, options)
  const { own } = await openTrustedLadder(setup, options.ladder)
  const file = options.from === undefined ? null : await readPlainBytes(options.from)
  let there = withOption(words, '--target', null, true)
  return {
    async send(shell, facts, stop) {
      const folder = own && (await sendLadder(shell, facts, own, stop))
      const sent =
        file && (await sendFolder(shell, facts, 'from', [{ path: 'from.json', bytes: file }], stop))
      there = withOption(words, '--target', null, true)
      if (folder !== null)
        there = withOption(withOption(there, '--ladder', folder), '--trust', true)
      if (sent !== null) there = withOption(there, '--from', `${sent}/from.json`)
      return folder ?? ''
    },
    words: (job) => change(there, job),
  }
}

/**
 * Returns a function that prints notes but omits the final error, which the command's JSON document
 * already contains.
 */
function notesBeforeError(): (text: string) => void {
  let over = false
  return (text) => {
    const [notes = ''] = over ? [] : text.split(/^error: /m)
    over ||= notes !== text
    if (notes.trim() !== '') note(notes.trimEnd())
  }
}

const reporting = {
  onNote: note,
  onNotice: (notice: Statement, level?: 'info'): void =>
    note(`${level === 'info' ? '' : 'warning: '}${inEnglish(notice)}`),
}

/**
 * Runs a ladder command on the remote machine's GPU. `change` edits the command's arguments, given
 * its job folder. `documented` means that the command prints a JSON document even if it fails.
 */
export async function ladderCommandThere(
  setup: Setup,
  name: string,
  words: readonly string[],
  options: LadderCommand,
  signal: AbortSignal,
  {
    change = (own) => own,
    file,
    documented = false,
  }: { change?: Change; file?: string; documented?: boolean } = {},
): Promise<{ code: number; stdout: string; file: string | null }> {
  const command = await commandOn(setup, words, options, change)
  const { folders } = setup.machine
  return runWords(
    folders,
    name,
    { ...command, ...(file === undefined ? {} : { file }) },
    {
      signal,
      ...reporting,
      ...(documented ? { onNote: notesBeforeError() } : {}),
    },
  )
}

/**
 * Runs a ladder command as a Slurm array job. In the arguments, each task's number replaces
 * `{task}`.
 */
export async function ladderTasksThere(
  setup: Setup,
  name: string,
  words: readonly string[],
  options: LadderCommand,
  signal: AbortSignal,
  { tasks, change }: { tasks: number; change: Change },
): Promise<void> {
  const command = await commandOn(setup, words, options, change)
  await runTasks(setup.machine.folders, name, { ...command, tasks }, { signal, ...reporting })
}

interface FoldersThere {
  words: readonly string[]
  /** Local folders to send in their current state. */
  folders: readonly string[]
  /** Replaces the local folders in the arguments with their remote paths. */
  change: (words: readonly string[], places: readonly string[]) => readonly string[]
}

function foldersCommand({ words, folders, change }: FoldersThere): CommandThere {
  let places: string[] = []
  return {
    async send(shell, facts, stop) {
      places = []
      for (const folder of folders) places.push(await sendTree(shell, facts, folder, stop))
      return places[0]!
    },
    words: () => change(withOption(words, '--target', null), places),
  }
}

/** Sends the folders that a command needs, and runs the command on the remote machine. */
export const folderCommandThere = (
  setup: Setup,
  name: string,
  command: FoldersThere,
  signal: AbortSignal,
): Promise<{ code: number; stdout: string }> =>
  runWords(setup.machine.folders, name, foldersCommand(command), { signal, ...reporting })

/**
 * Runs a command on folders as a Slurm array job. In the arguments, each task's number replaces
 * `{task}`.
 */
export const folderTasksThere = (
  setup: Setup,
  name: string,
  command: FoldersThere,
  tasks: number,
  signal: AbortSignal,
): Promise<void> =>
  runTasks(
    setup.machine.folders,
    name,
    { ...foldersCommand(command), tasks },
    { signal, ...reporting },
  )
