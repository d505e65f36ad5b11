/** A command on another machine: the words that the user gave go there, and what it prints comes here. */
import type { Setup } from '../../adapters/machine/machine'
import { can, parseTarget } from '../../domain/target/targets'
import { inEnglish } from '../../domain/text/wording'
import { openTrustedLadder } from '../../services/ladder-library/open'
import { runWords } from '../../services/machines/remote-job'
import { note } from './output'
import { askTrust } from './trust'

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

/** Runs the command about a ladder there, on its GPU. `change` edits its words, given the folder of its job. */
export async function ladderCommandThere(
  setup: Setup,
  name: string,
  words: readonly string[],
  options: { ladder: string; trust?: boolean },
  signal: AbortSignal,
  {
    change = (own) => own,
    file,
  }: {
    change?: (words: readonly string[], job: string) => readonly string[]
    file?: string
  } = {},
): Promise<{ code: number; stdout: string; file: string | null }> {
  await askTrust(setup, options.ladder, options)
  const { own } = await openTrustedLadder(setup, options.ladder)
  return runWords(
    setup.machine.folders,
    name,
    {
      ladder: own,
      ...(file === undefined ? {} : { file }),
      words(job, folder) {
        const there = withOption(words, '--target', null)
        return change(
          folder === null
            ? there
            : withOption(withOption(there, '--ladder', folder), '--trust', true),
          job,
        )
      },
    },
    { signal, onNote: note, onNotice: (notice) => note(inEnglish(notice)) },
  )
}
