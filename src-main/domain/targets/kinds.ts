/** The kinds of targets: syntax, capabilities, and presentation in the session list. */
import { isMachineName } from '../remote/machine-file'

/** Syntax of a target kind as the value of `--target`. */
export interface TargetSyntax {
  /** Syntax without a name, such as `local`; null if a name is required. */
  readonly bare: string | null
  /**
   * Syntax with a name for the help text, such as `recorded:<name>`; null if the kind has no names.
   */
  readonly named: string | null
  /** The list of valid names, which the UI's forms offer as choices. */
  readonly names: 'recordings' | 'gpus' | 'machines' | null
  /** Parses a target. Returns null if the text belongs to another kind. */
  readonly parse: (text: string) => { name: string | null } | null
  readonly print: (name: string | null) => string
}

/** Capabilities of a target kind, for new runs and for existing sessions. */
export interface Capabilities {
  readonly builds: boolean
  /** Whether rungs are launched, so that each rung gets a verification verdict. */
  readonly runs: boolean
  readonly times: boolean
  /** Whether a model predicts the rungs' times. */
  readonly predicts?: true
  readonly profiles: boolean
  /** Whether a GPU on this machine is required. */
  readonly needsGpu: boolean
  /** Whether rungs run on another machine. This machine then needs neither a GPU nor a compiler. */
  readonly elsewhere?: true
  /** Whether a recording is replayed. A replay uses no GPU and saves no session. */
  readonly replays: boolean
  /** Whether the computation, its sources and its settings are known. */
  readonly knowsRun: boolean
}

export interface TargetKind {
  /** Syntax; null if runs cannot be requested for this kind. */
  readonly syntax: TargetSyntax | null
  /** Explanation shown after the syntax in the command-line help. */
  readonly help: string
  readonly can: Capabilities
  /** Section of the session list for sessions of this kind. */
  readonly listed: 'live' | 'recorded' | 'imported'
  /** Color of the badge: accent for figures measured on a GPU, caution for all other figures. */
  readonly tone: 'accent' | 'caution'
  /** Whether the target's name is a GPU in the built-in table. */
  readonly namesGpu: boolean
  /**
   * Returns the arguments for `kernel-ladder run <ladder>` that reproduce a session. Returns null
   * if no run can reproduce the session.
   */
  readonly again: (name: string) => readonly string[] | null
  /** Returns the origin of the figures as one line of terminal text. `createdAt` is in ISO 8601. */
  readonly origin: (name: string, createdAt: string) => string
}

const nameOf = (text: string, prefix: string, pattern: RegExp): string | null => {
  const name = text.startsWith(prefix) ? text.slice(prefix.length) : ''
  return pattern.test(name) ? name : null
}

/** Creates a syntax that consists of one word. */
export const wordSyntax = (word: string) =>
  ({
    bare: word,
    named: null,
    names: null,
    parse: (text: string) => (text === word ? { name: null } : null),
    print: () => word,
  }) as const satisfies TargetSyntax

/** Creates the syntax `word:name`. If the name is optional, `word` is also valid. */
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

/** A run on this machine's GPU. Sessions have used the kind `live` since the first version. */
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

/** A build of rungs for a GPU in the built-in table. Such a build needs no GPU and runs nothing. */
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

/** Default GPU for emulation. The emulator was validated against this GPU. */
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

/** A run on an emulated GPU, with times predicted by a model of that GPU. */
export const predicted = {
  syntax: namedSyntax('predicted', 'gpu', /^[a-z0-9][a-z0-9_-]{0,39}$/, 'gpus', true),
  help: 'predict times with a model of a GPU',
  can: { ...emulated.can, predicts: true },
  listed: 'live',
  tone: 'caution',
  namesGpu: true,
  again: (name: string) => ['--target', `predicted:${name}`],
  origin: (name: string, createdAt: string) => `predicted for ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind

/** A built-in recording, replayed through the same parsers as a live run. */
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
  // Without a target, the command measures the rungs again on a local GPU.
  again: () => [],
  origin: (name: string, createdAt: string) => `recorded ${createdAt.slice(0, 10)} as ${name}`,
} as const satisfies TargetKind

/** Capabilities for profiles of code that this program neither built nor launched. */
const onlyProfiled = {
  builds: false,
  runs: false,
  times: false,
  profiles: true,
  needsGpu: false,
  replays: false,
  knowsRun: false,
} as const satisfies Capabilities

/**
 * Counters imported from an ncu file. No run creates an imported session, and the file does not
 * describe the computation.
 */
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
 * A profile of the user's program under ncu, kernel by kernel. `profile -- COMMAND` creates such
 * sessions.
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

/** A run on a machine from the user's machines.yaml, over ssh or as a Slurm job. */
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
