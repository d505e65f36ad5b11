/** What can stand at the end of a command line: commands and options by their definitions, names by what is there. */
import { readdir } from 'node:fs/promises'
import type { Command, Option } from 'commander'
import type { Setup, SetUp } from '../../../adapters/machine/machine'
import { gpus } from '../../../domain/gpu/gpu'
import { profileLevels } from '../../../domain/metrics/metric-definition'
import { reportSections } from '../../../domain/report/frozen-report'
import { reportFormats } from '../../../domain/report/report-format'
import { sanitizerTools } from '../../../domain/session/sanitizer'
import { runnableKinds } from '../../../domain/target/targets'
import { shellNames } from './scripts'

// The names that are there: ladders, rungs, sessions and the words of closed lists. Reads, and never fails.

export type NameKind =
  | 'ladders'
  | 'rungs'
  | 'sessions'
  | 'targets'
  | 'levels'
  | 'formats'
  | 'sections'
  | 'tools'
  | 'templates'
  | 'labs'
  | 'machines'
  | 'shells'

/** What a name is looked up in, as far as the command line says. */
export interface Within {
  ladder: string | undefined
  session: string | undefined
}

const words = (all: readonly string[]): Candidate[] => all.map((word) => ({ word }))

async function ladders({ assets }: Setup): Promise<Candidate[]> {
  const { readKernelLibrary } = await import('../../../adapters/kernels/kernel-library')
  const library = await readKernelLibrary(assets.kernelsDir)
  return library.ladders.map(({ id, title }) => ({ word: id, about: title }))
}

async function sessions(setup: Setup): Promise<Candidate[]> {
  const { listAll } = await import('../../../services/sessions/sessions')
  const all = await listAll(setup)
  return all.map(({ ref, ladder, deviceName }) => ({
    word: ref,
    about: [ladder.title, deviceName].filter(Boolean).join(', '),
  }))
}

/** Of the session or the ladder that the line names. */
async function rungs(setup: Setup, { ladder, session }: Within): Promise<Candidate[]> {
  if (session !== undefined) {
    const { openNamed } = await import('../../../services/sessions/sessions')
    const opened = await openNamed(setup, session)
    return opened.session.rungs.map(({ id, title }) => ({ word: id, about: title }))
  }
  if (ladder === undefined) return []
  const { openLadder } = await import('../../../services/ladder-library/open')
  const { library, id } = await openLadder(setup, ladder)
  const file = library.ladders.find((one) => one.id === id)
  return (file?.rungs ?? []).map((entry) => ({
    word: entry.as ?? entry.id,
    about: entry.title ?? library.rungs.get(entry.id)?.header.title ?? '',
  }))
}

async function machines({ machine }: Setup): Promise<Candidate[]> {
  const { readMachines } = await import('../../../adapters/remote/machines-store')
  return words(Object.keys(await readMachines(machine.folders.config).catch(() => ({}))))
}

async function targets(setup: Setup): Promise<Candidate[]> {
  const { listRecordings } = await import('../../../services/sessions/recordings')
  const recordings = await listRecordings(setup.assets.recordingsDir)
  const named = {
    recordings: recordings.map(({ name }) => name),
    gpus: gpus.map(({ id }) => id),
    machines: (await machines(setup)).map(({ word }) => word),
  }
  return words(
    runnableKinds.flatMap(({ syntax }) => [
      ...(syntax.bare === null ? [] : [syntax.bare]),
      ...(syntax.names === null ? [] : named[syntax.names].map((name) => syntax.print(name))),
    ]),
  )
}

async function labs(setup: Setup): Promise<Candidate[]> {
  const { listLabs } = await import('../../../services/lab-library/library')
  return (await listLabs(setup)).labs.map(({ id, lab }) => ({ word: id, about: lab.title }))
}

const templates = async ({ assets }: Setup): Promise<Candidate[]> =>
  words((await readdir(assets.templatesDir)).sort())

/** A name list for completion: none where anything is in the way, since the shell has nowhere to say so. */
export const namesOn =
  (setUp: SetUp) =>
  async (kind: NameKind, within: Within): Promise<Candidate[]> => {
    const read = async (): Promise<Candidate[]> => {
      switch (kind) {
        case 'levels':
          return words(profileLevels)
        case 'formats':
          return words(reportFormats)
        case 'sections':
          return words(reportSections)
        case 'tools':
          return words(sanitizerTools)
        case 'shells':
          return words(shellNames)
        case 'ladders':
          return ladders(await setUp())
        case 'sessions':
          return [{ word: 'recorded' }, ...(await sessions(await setUp()))]
        case 'rungs':
          return rungs(await setUp(), within)
        case 'targets':
          return targets(await setUp())
        case 'templates':
          return templates(await setUp())
        case 'machines':
          return machines(await setUp())
        case 'labs':
          return labs(await setUp())
      }
    }
    return read().catch(() => [])
  }

export type ListNames = ReturnType<typeof namesOn>

export interface Candidate {
  word: string
  about?: string
}

/** What the value of an option or argument is, by its name; of others the shell completes files. */
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

/** Arguments whose name says less than their command. */
const ofArguments: Readonly<Record<string, NameKind>> = {
  'lab check id': 'labs',
  'lab start id': 'labs',
  'diff a': 'rungs',
  'diff b': 'rungs',
  'edit rung': 'rungs',
  'compare a': 'sessions',
  'compare b': 'sessions',
  'machine check name': 'machines',
  'machine remove name': 'machines',
  'machine runs name': 'machines',
  'machine resume name': 'machines',
}

/** As bash has it on the line: `my\ folder`, `"my folder`. */
export const unquoted = (word: string): string =>
  word.replaceAll(/\\(.)|["']/g, (_all, escaped: string | undefined) => escaped ?? '')

interface Place {
  command: Command
  /** Its name with those above it. */
  path: string
  /** What was given before the last word. */
  options: Map<string, string>
  operands: string[]
  /** The option whose value comes next. */
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

/** The name of the argument that the next operand would be. */
function argumentAt({ command, operands }: Place): string | null {
  const all = command.registeredArguments
  const last = all.at(-1)
  return (all[operands.length] ?? (last?.variadic ? last : undefined))?.name() ?? null
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** Names of a list `a,b`: what was chosen before the last comma stays. */
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
  // A command that there is not has nothing to complete.
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

/** `words` begin with the program's name and end with the one to complete, which may be empty. */
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
