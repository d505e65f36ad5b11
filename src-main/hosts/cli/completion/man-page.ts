/** Generates the man page kernel-ladder(1) from the command definitions. */
import type { Command } from 'commander'
import { exitCodes } from '../../../domain/errors'

/** Escapes text for roff: backslashes, a leading dot or apostrophe, and literal hyphens. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n')

const paragraph = (text: string): string => `.PP\n${roff(text)}`

const entry = (term: string, text: string): string => `.TP\n.B ${roff(term)}\n${roff(text)}`

/** Returns a usage line such as `lab check <id> [options]`. */
const usageOf = (path: string, command: Command): string =>
  `${path} ${command.usage().replace('[command]', 'COMMAND')}`.trim()

function sections(command: Command, path: string): string[] {
  const help = command.createHelp()
  const own = help.visibleCommands(command).filter((one) => one.name() !== 'help')
  if (own.length > 0) return own.flatMap((one) => sections(one, `${path} ${one.name()}`.trim()))
  return [
    `.SS ${roff(usageOf(path, command))}`,
    roff(command.description()),
    ...help
      .visibleArguments(command)
      .map((one) => entry(one.name(), help.argumentDescription(one))),
    ...help
      .visibleOptions(command)
      .filter((one) => one.long !== '--help')
      .map((one) => entry(help.optionTerm(one), help.optionDescription(one))),
  ]
}

const codes: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'a rung or a check failed',
  2: 'bad usage or input',
  3: 'something is missing on this machine; the message has the remedy',
}

export function manPage(cli: Command, version: string): string {
  const meanings = [0, ...new Set(Object.values(exitCodes))].sort((a, b) => a - b)
  return `${[
    `.TH KERNEL\\-LADDER 1 "" "kernel\\-ladder ${roff(version)}"`,
    '.SH NAME',
    `kernel\\-ladder \\- ${roff(cli.description().replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B kernel\\-ladder\n.I COMMAND\n.RI [ OPTIONS ]',
    '.SH COMMANDS',
    ...sections(cli, ''),
    '.SH EXIT STATUS',
    ...meanings.map((code) => entry(`${code}`, codes[code] ?? '')),
    '.SH ENVIRONMENT',
    entry('KERNEL_LADDER_DATA', 'the folder for sessions, drafts, and lab work'),
    entry('KERNEL_LADDER_CACHE', 'the folder for builds; may be deleted at any time'),
    entry(
      'KERNEL_LADDER_EDITOR',
      'the editor for opening source lines, such as: code -g {file}:{line}',
    ),
    '.SH FILES',
    paragraph(
      'Sessions are in $XDG_DATA_HOME/kernel-ladder, by default ~/.local/share/kernel-ladder.',
    ),
  ].join('\n')}\n`
}
