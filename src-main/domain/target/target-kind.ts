/** What there is to know of a kind of target: how it is written, what it can do, how it is called. */

/** How a kind is written after `--target`. */
export interface TargetSyntax {
  /** Without a name: `local`; null where a name must stand behind it. */
  readonly bare: string | null
  /** With one, for help: `recorded:<name>`; null where there is none to give. */
  readonly named: string | null
  /** What a name is one of, for a form that offers them. */
  readonly names: 'recordings' | 'gpus' | null
  /** null for text of another kind. */
  readonly parse: (text: string) => { name: string | null } | null
  readonly print: (name: string | null) => string
}

/** What is done with rungs, or was, for a session that is there already. */
export interface Capabilities {
  readonly builds: boolean
  /** Rungs are launched, so that each comes to a verdict. */
  readonly runs: boolean
  readonly times: boolean
  readonly profiles: boolean
  /** This machine must have a GPU. */
  readonly needsGpu: boolean
  /** Tells again what was recorded: nothing is asked of a GPU, and nothing new is to be saved. */
  readonly replays: boolean
  /** What was computed, from which sources and with which settings is known. */
  readonly knowsRun: boolean
}

export interface TargetKind {
  /** null: no run can be asked for it. */
  readonly syntax: TargetSyntax | null
  /** Behind its syntax in the help of the command line. */
  readonly help: string
  readonly can: Capabilities
  /** The part of a list of sessions that its sessions stand in. */
  readonly listed: 'live' | 'recorded' | 'imported'
  /** How a badge looks: figures of a GPU, now, or figures that need a second look. */
  readonly tone: 'accent' | 'caution'
  /** Its name is a GPU of the table. */
  readonly namesGpu: boolean
  /** Behind `kernel-ladder run` and the ladder, for a session like that; null where no run makes one. */
  readonly again: (name: string) => readonly string[] | null
  /** Where the figures are from, in a line of the terminal; `createdAt` is ISO 8601. */
  readonly origin: (name: string, createdAt: string) => string
}

const nameOf = (text: string, prefix: string, pattern: RegExp): string | null => {
  const name = text.startsWith(prefix) ? text.slice(prefix.length) : ''
  return pattern.test(name) ? name : null
}

/** `word` alone. */
export const wordSyntax = (word: string) =>
  ({
    bare: word,
    named: null,
    names: null,
    parse: (text: string) => (text === word ? { name: null } : null),
    print: () => word,
  }) as const satisfies TargetSyntax

/** `word:name`; also `word` alone where a name is no must. */
export const namedSyntax = (
  word: string,
  placeholder: string,
  pattern: RegExp,
  names: TargetSyntax['names'],
  optional: boolean,
) =>
  ({
    bare: optional ? word : null,
    named: `${word}:<${placeholder}>`,
    names,
    parse(text: string) {
      if (optional && text === word) return { name: null }
      const name = nameOf(text, `${word}:`, pattern)
      return name === null ? null : { name }
    },
    print: (name: string | null) => (name === null ? word : `${word}:${name}`),
  }) as const satisfies TargetSyntax
