/**
 * Implements `kernel-ladder completion`, the hidden command that the completion scripts call, and
 * the man page of the npm package.
 */
import type { Command } from 'commander'
import type { SetUp } from '../../../adapters/machine/machine'
import { inputError } from '../../../domain/errors'
import { appVersion } from '../../../services/version'
import { complete, unquoted } from '../completion/complete'
import { shellNames, shells, type Shell } from '../completion/scripts'
import { printable } from '../printable'
import { nearest } from '../../../domain/text/nearest'
import { namesOn } from '../completion/names'
import { manPage } from '../completion/man-page'

const isShell = (word: string): word is Shell => Object.hasOwn(shells, word)

export function completionCommand(shell: string): Promise<number> {
  if (!isShell(shell)) {
    const near = nearest(shell, shellNames)
    throw inputError(
      `There is no completion for ${JSON.stringify(shell)}.`,
      near === null ? `Shells: ${shellNames.join(', ')}.` : `Did you mean ${near}?`,
    )
  }
  process.stdout.write(shells[shell])
  return Promise.resolve(0)
}

export async function completeCommand(
  cli: Command,
  shell: string,
  words: readonly string[],
  setUp: SetUp,
): Promise<number> {
  // Only bash passes words with their quotes.
  const given = shell === 'bash' ? words.map(unquoted) : words
  const lines = (await complete(cli, given, namesOn(setUp)))
    // Omit names with a line break, because the shell would read them as two names.
    .filter(({ word }) => !/[\n\t]/.test(word))
    .map(({ word, about }) => (about ? `${word}\t${about}` : word))
  process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''))
  return 0
}

export function manCommand(cli: Command): Promise<number> {
  process.stdout.write(manPage(cli, appVersion))
  return Promise.resolve(0)
}
