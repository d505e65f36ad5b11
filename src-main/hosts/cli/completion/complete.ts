/**
 * Completes the last word of a command line. Candidates are commands and options from the
 * definitions, and names of existing data.
 */
import type { Command, Option } from 'commander'
import type { NameKind, ListNames, Candidate } from './names'

/**
 * Kind of value for each option or argument name. For other names, the shell completes file names.
 */
const kinds: Readonly<Record<string, NameKind>> = {
  ladder: 'ladders',
  rungs: 'rungs',
  rung: 'rungs',
  profileSkip: 'rungs',
  session: 'sessions',
  compare: 'sessions',
  baseline: 'sessions',
  against: 'sessions',
  target: 'targets',
  profile: 'levels',
  format: 'formats',
  sections: 'sections',
  tool: 'tools',
  template: 'templates',
  lab: 'labs',
  shell: 'shells',
}

/** Arguments whose kind of value depends on their command. */
const ofArguments: Readonly<Record<string, NameKind>> = {
  'lab check id': 'labs',
  'lab start id': 'labs',
  'diff a': 'rungs',
  'diff b': 'rungs',
  'edit rung': 'rungs',
  'compare a': 'sessions',
  'compare b': 'sessions',
  'machine calibrate name': 'machines',
  'machine check name': 'machines',
  'machine remove name': 'machines',
  'machine runs name': 'machines',
  'machine resume name': 'machines',
}

/** Removes bash's quoting from a word such as `my\ folder` or `"my folder`. */
export const unquoted = (word: string): string =>
  word.replaceAll(/\\(.)|["']/g, (_all, escaped: string | undefined) => escaped ?? '')

interface Place {
  command: Command
  /** Name of the command, including the names of its parent commands. */
  path: string
  /** Options in all words before the last one. */
  options: Map<string, string>
  operands: string[]
  /** Option whose value is the next word. */
  awaiting: Option | null
}

const optionNamed = (command: Command, word: string): Option | undefined =>
  command.options.find(({ short, long }) => word === short || word === long)

const takesValue = ({ required, optional }: Option): boolean => required || optional

function placeOf(cli: Command, words: readonly string[]): Place {
  const place: Place = {
    command: cli,
    path: '',
    options: new Map(),
    operands: [],
    awaiting: null,
  }
  for (const word of words) {
    const { awaiting } = place
    if (awaiting) {
      place.options.set(awaiting.attributeName(), word)
      place.awaiting = null
      continue
    }
    const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? []
    const option = word.startsWith('-') ? optionNamed(place.command, name) : undefined
    if (option && value !== undefined) place.options.set(option.attributeName(), value)
    else if (option && takesValue(option)) place.awaiting = option
    else if (!word.startsWith('-')) {
      const sub = place.command.commands.find((one) => one.name() === word)
      if (sub) {
        place.command = sub
        place.path = `${place.path} ${word}`.trim()
        place.operands = []
      } else place.operands.push(word)
    }
  }
  return place
}

/** Returns the name of the argument that the next operand belongs to. */
function argumentAt({ command, operands }: Place): string | null {
  const all = command.registeredArguments
  const last = all.at(-1)
  return (all[operands.length] ?? (last?.variadic ? last : undefined))?.name() ?? null
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/**
 * Returns candidates for the last word. In a list such as `a,b`, only the text after the last comma
 * is completed.
 */
async function namesFor(
  names: ListNames,
  kind: NameKind,
  word: string,
  place: Place,
): Promise<Candidate[]> {
  const { options, operands } = place
  const of = { ladder: options.get('ladder'), session: options.get('session') ?? operands[0] }
  const found = await names(kind, of)
  const isList = ['rungs', 'tools', 'sections'].includes(kind) && word.includes(',')
  const head = isList ? word.slice(0, word.lastIndexOf(',') + 1) : ''
  const chosen = new Set(head.split(','))
  return found
    .filter((one) => !chosen.has(one.word))
    .map((one) => ({ ...one, word: head + one.word }))
}

async function candidates(names: ListNames, place: Place, last: string): Promise<Candidate[]> {
  const { command, path, awaiting } = place
  const inline = /^(--[^=]+=)(.*)$/s.exec(last)
  const option = awaiting ?? (inline && optionNamed(command, inline[1]!.slice(0, -1)))
  if (option) {
    const kind = kinds[option.attributeName()]
    const head = awaiting ? '' : inline![1]!
    const found = kind ? await namesFor(names, kind, last.slice(head.length), place) : []
    return found.map((one) => ({ ...one, word: head + one.word }))
  }
  if (last.startsWith('-'))
    return command.options
      .filter(({ hidden }) => !hidden)
      .map(({ long, short, description }) => ({
        word: long ?? short ?? '',
        about: firstLine(description),
      }))
      .concat({ word: '--help', about: 'show the help of this command' })
  // There are no completions for an unknown subcommand.
  if (command.commands.length > 0 && place.operands.length > 0) return []
  if (command.commands.length > 0)
    return command
      .createHelp()
      .visibleCommands(command)
      .map((one) => ({ word: one.name(), about: firstLine(one.description()) }))
  const name = argumentAt(place)
  const kind = name === null ? undefined : (ofArguments[`${path} ${name}`] ?? kinds[name])
  return kind ? namesFor(names, kind, last, place) : []
}

/**
 * Completes a command line. `words` starts with the program's name. The last word is the word to
 * complete, which may be empty.
 */
export async function complete(
  cli: Command,
  words: readonly string[],
  names: ListNames,
): Promise<Candidate[]> {
  const given = words.slice(1)
  const last = given.at(-1) ?? ''
  const found = await candidates(names, placeOf(cli, given.slice(0, -1)), last)
  return found.filter(({ word }) => word.startsWith(last))
}
