/** Everything that defines a target kind: its syntax, its capabilities and its labels. */

/** How a kind is written after `--target`. */
export interface TargetSyntax {
  /** Without a name: `local`; null if a name is required. */
  readonly bare: string | null
  /** With a name, for the help text: `recorded:<name>`; null if the kind takes none. */
  readonly named: string | null
  /** The list that names come from, for a form that offers them. */
  readonly names: 'recordings' | 'gpus' | 'machines' | null
  /** null if the text belongs to another kind. */
  readonly parse: (text: string) => { name: string | null } | null
  readonly print: (name: string | null) => string
}

/** What is done with rungs or, for an existing session, what was done. */
export interface Capabilities {
  readonly builds: boolean
  /** Rungs are launched, so each gets a verdict. */
  readonly runs: boolean
  readonly times: boolean
  readonly profiles: boolean
  /** Requires a GPU on this machine. */
  readonly needsGpu: boolean
  /** Runs on another machine, so this one needs neither GPU nor compiler. */
  readonly elsewhere?: true
  /** Replays a recording: no GPU is used, and there is nothing new to save. */
  readonly replays: boolean
  /** It is known what was computed, from which sources and with which settings. */
  readonly knowsRun: boolean
}

export interface TargetKind {
  /** null if no run can be requested for this kind. */
  readonly syntax: TargetSyntax | null
  /** The explanation after its syntax in the command-line help. */
  readonly help: string
  readonly can: Capabilities
  /** The section of the session list that its sessions appear in. */
  readonly listed: 'live' | 'recorded' | 'imported'
  /** The color of its badge: accent for figures just measured on a GPU, caution for all others. */
  readonly tone: 'accent' | 'caution'
  /** Its name is a GPU of the built-in table. */
  readonly namesGpu: boolean
  /** The arguments after `kernel-ladder run` and the ladder that reproduce such a session; null if no run can. */
  readonly again: (name: string) => readonly string[] | null
  /** The origin of the figures, as one line of terminal text; `createdAt` is ISO 8601. */
  readonly origin: (name: string, createdAt: string) => string
}

const nameOf = (text: string, prefix: string, pattern: RegExp): string | null => {
  const name = text.startsWith(prefix) ? text.slice(prefix.length) : ''
  return pattern.test(name) ? name : null
}

/** Just `word`. */
export const wordSyntax = (word: string) =>
  ({
    bare: word,
    named: null,
    names: null,
    parse: (text: string) => (text === word ? { name: null } : null),
    print: () => word,
  }) as const satisfies TargetSyntax

/** `word:name`, or just `word` if the name is optional. */
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
