/** The kinds of targets: how each is written, what it can do, and how its sessions are listed. */
import { isMachineName } from '../remote/machine-file'

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
  /** A model predicts how long they would take. */
  readonly predicts?: true
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

/** A run on the GPU of this machine. Its sessions have used the kind `live` since the first version. */
export const local = {
  syntax: wordSyntax('local'),
  help: 'run on the GPU of this machine',
  can: {
    builds: true,
    runs: true,
    times: true,
    profiles: true,
    needsGpu: true,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'accent',
  namesGpu: false,
  again: () => [],
  origin: (_name: string, createdAt: string) =>
    `measured ${createdAt.slice(0, 16).replace('T', ' ')} UTC`,
} as const satisfies TargetKind

/** Rungs built for a GPU of the built-in table, on a machine that may have no GPU; nothing is run. */
export const built = {
  syntax: namedSyntax('static', 'gpu', /^[a-z0-9][a-z0-9_-]{0,39}$/, 'gpus', false),
  help: 'build for a known GPU without running',
  can: {
    builds: true,
    runs: false,
    times: false,
    profiles: false,
    needsGpu: false,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'caution',
  namesGpu: true,
  again: (name: string) => ['--target', `static:${name}`],
  origin: (name: string, createdAt: string) =>
    `built for ${name} on ${createdAt.slice(0, 10)}, not run`,
} as const satisfies TargetKind

/** Where none is named: the GPU that the emulator was held against. */
export const defaultEmulatedGpu = 'h200'

export const emulated = {
  syntax: namedSyntax('emulated', 'gpu', /^[a-z0-9][a-z0-9_-]{0,39}$/, 'gpus', true),
  help: 'count on an emulated GPU, without times',
  can: {
    builds: true,
    runs: true,
    times: false,
    profiles: true,
    needsGpu: false,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'caution',
  namesGpu: true,
  again: (name: string) => ['--target', `emulated:${name}`],
  origin: (name: string, createdAt: string) => `emulated on ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind

/** Rungs executed on an emulated GPU, and timed by a model of it. */
export const predicted = {
  syntax: namedSyntax('predicted', 'gpu', /^[a-z0-9][a-z0-9_-]{0,39}$/, 'gpus', true),
  help: 'predict times by a model of a GPU, without one',
  can: { ...emulated.can, predicts: true },
  listed: 'live',
  tone: 'caution',
  namesGpu: true,
  again: (name: string) => ['--target', `predicted:${name}`],
  origin: (name: string, createdAt: string) => `predicted for ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind

/** A recording that ships with the program, replayed through the same parsers. */
export const recorded = {
  syntax: namedSyntax('recorded', 'name', /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/, 'recordings', true),
  help: 'replay a shipped recording',
  can: {
    builds: true,
    runs: true,
    times: true,
    profiles: true,
    needsGpu: false,
    replays: true,
    knowsRun: true,
  },
  listed: 'recorded',
  tone: 'caution',
  namesGpu: false,
  // Repeating the run measures it live, on a GPU of the same kind.
  again: () => [],
  origin: (name: string, createdAt: string) => `recorded ${createdAt.slice(0, 10)} as ${name}`,
} as const satisfies TargetKind

/** What ncu counted of code that this program neither built nor launched. */
const onlyProfiled = {
  builds: false,
  runs: false,
  times: false,
  profiles: true,
  needsGpu: false,
  replays: false,
  knowsRun: false,
} as const satisfies Capabilities

/** Counters imported from an ncu file. No run produces such a session, and the file does not say what was run. */
export const imported = {
  syntax: null,
  help: '',
  can: onlyProfiled,
  listed: 'imported',
  tone: 'caution',
  namesGpu: false,
  again: () => null,
  origin: (name: string, createdAt: string) => `imported from ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind

/**
 * A program of the user's own under ncu, kernel by kernel. `profile -- COMMAND` makes such a session, and no run does.
 */
export const program = {
  syntax: null,
  help: '',
  can: { ...onlyProfiled, needsGpu: true },
  listed: 'live',
  tone: 'accent',
  namesGpu: false,
  again: () => null,
  origin: (name: string, createdAt: string) => `profile of ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind

/** A run on a machine of the user's machines.yaml, over ssh or as a job of Slurm. */
export const machine = {
  syntax: {
    bare: null,
    named: '<machine>',
    names: 'machines',
    parse: (text: string) => (isMachineName(text) ? { name: text } : null),
    print: (name: string | null) => name ?? '',
  },
  help: 'run on another machine, added with `machine add`',
  can: {
    builds: true,
    runs: true,
    times: true,
    profiles: true,
    needsGpu: false,
    elsewhere: true,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'accent',
  namesGpu: false,
  again: (name: string) => ['--target', name],
  origin: (name: string, createdAt: string) =>
    `measured on ${name}, ${createdAt.slice(0, 16).replace('T', ' ')} UTC`,
} as const satisfies TargetKind
