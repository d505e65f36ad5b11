/**
 * The target kinds. Each kind of target has an entry in ./kinds, a line in this file, a runner in
 * services/targets, and messages. Other code only checks a target's capabilities, not its kind.
 */
import { z } from 'zod'
import { buildGpu, type BuildGpu } from '../gpu/gpu-table'
import {
  emulated,
  imported,
  local,
  machine,
  predicted,
  program,
  recorded,
  built,
  type Capabilities,
  type TargetKind,
} from './kinds'

/** Target kinds by their name in session.json, in the order in which the UI offers them. */
export const targetKinds = {
  live: local,
  emulated,
  predicted,
  recorded,
  imported,
  program,
  static: built,
  // `machine` must be last, because it accepts any name that no other kind uses.
  machine,
} as const satisfies Record<string, TargetKind>

type Kinds = typeof targetKinds
export type TargetKindId = keyof Kinds
/** The kinds of targets that a user can request a run for. */
export type RunnableKind = {
  [K in TargetKindId]: Kinds[K]['syntax'] extends null ? never : K
}[TargetKindId]

const ids = Object.keys(targetKinds) as [TargetKindId, ...TargetKindId[]]

/** The target that produced a session. */
export const Target = z.object({
  kind: z.enum(ids),
  /**
   * `local`, the name of the recording or imported file, or the GPU given in `--target
   * static:<gpu>`.
   */
  name: z.string(),
})
export type Target = z.infer<typeof Target>

/** The target in a run request. The name is null if the request has none. */
export interface ParsedTarget {
  kind: RunnableKind
  name: string | null
}

export const kindOf = ({ kind }: { kind: TargetKindId }): TargetKind => targetKinds[kind]

/** Returns a target's capabilities. */
export const can = (target: { kind: TargetKindId }): Capabilities => kindOf(target).can

export function parseTarget(text: string): ParsedTarget | null {
  for (const kind of ids) {
    const parsed = targetKinds[kind].syntax?.parse(text)
    if (parsed) return { kind: kind as RunnableKind, name: parsed.name }
  }
  return null
}

/**
 * Formats a target in the syntax of `--target`. Imports cannot be targets, so their file name is
 * returned.
 */
export const printTarget = ({ kind, name }: { kind: TargetKindId; name: string | null }): string =>
  kindOf({ kind }).syntax?.print(name) ?? name ?? ''

const syntaxes = ids.flatMap((kind) => {
  const { syntax, help } = kindOf({ kind })
  return syntax ? [{ kind: kind as RunnableKind, syntax, help }] : []
})

/** The kinds of targets that a user can request a run for, with their syntax. */
export const runnableKinds: readonly {
  kind: RunnableKind
  syntax: NonNullable<TargetKind['syntax']>
}[] = syntaxes

const written = (syntax: NonNullable<TargetKind['syntax']>): string[] =>
  [syntax.bare, syntax.named].filter((word) => word !== null)

/**
 * Syntax of all targets as one line: `local, emulated, emulated:<gpu>, recorded, recorded:<name>`,
 * and so on.
 */
export const targetUsage = syntaxes.flatMap(({ syntax }) => written(syntax)).join(', ')

/** Syntax of all targets, each with an explanation. */
export const targetHelp = syntaxes
  .map(({ syntax, help }) => `${written(syntax).join(' or ')} (${help})`)
  .join(', ')

/** A target as text, as used in run requests. */
export const TargetText = z
  .string()
  .refine((text) => parseTarget(text) !== null, { error: `Targets: ${targetUsage}.` })

/** Target for memory and race checks: a GPU with compute-sanitizer, or an emulated GPU. */
export const SanitizeTarget = TargetText.refine(
  (text) => {
    const { runs, replays, predicts } = can(parseTarget(text)!)
    return runs && !replays && !predicts
  },
  { error: 'Memory and race checks run on local or emulated.' },
)

/** Returns whether a target times rungs on a local or remote GPU, as sweeps require. */
export function timesOnGpu(text: string): boolean {
  const parsed = parseTarget(text)
  return parsed !== null && (can(parsed).needsGpu || can(parsed).elsewhere === true)
}

/** Targets for checking a lab: all kinds that run rungs and require no name. */
export const labTargets: readonly string[] = syntaxes.flatMap(({ kind, syntax }) =>
  targetKinds[kind].can.runs && syntax.bare !== null ? [syntax.bare] : [],
)

export const LabTarget = z.enum(labTargets as readonly [string, ...string[]], {
  error: `Targets for a lab: ${labTargets.join(', ')}.`,
})
export type LabTarget = z.infer<typeof LabTarget>

/**
 * Returns the default target for checking a lab: this machine's GPU, an emulated GPU, or a
 * recording, in this order. If a check needs times and a timing model is available, the times of
 * the emulated GPU are predicted.
 */
export function usualLabTarget(here: {
  hasGpu: boolean
  hasCompiler: boolean
  needsTimes?: boolean
  hasModel?: boolean
}): LabTarget {
  const possible = labTargets.filter((text) => {
    const { needsGpu, replays, predicts } = can(parseTarget(text)!)
    if (predicts && !(here.needsTimes && here.hasModel)) return false
    return needsGpu ? here.hasGpu : replays || here.hasCompiler
  })
  const isNew = (text: string): boolean => !can(parseTarget(text)!).replays
  const timed = possible.find((text) => {
    const { times, predicts } = can(parseTarget(text)!)
    return isNew(text) && (times || predicts)
  })
  const built = timed ?? possible.find(isNew)
  return built ?? possible[0] ?? labTargets[0]!
}

/** Returns whether rungs were compiled but not launched. */
export const isBuiltOnly = (target: { kind: TargetKindId }): boolean =>
  can(target).builds && !can(target).runs

/** Returns whether rungs ran on an emulated GPU, which provides counters but no times. */
export const isEmulated = (target: { kind: TargetKindId }): boolean =>
  can(target).runs && !can(target).times && !can(target).predicts

/** Returns whether a model predicted the times. */
export const isPredicted = (target: { kind: TargetKindId }): boolean =>
  can(target).predicts === true

/** Returns whether the session was newly measured instead of replayed. */
export const isMeasuredNow = (target: { kind: TargetKindId }): boolean =>
  can(target).times && !can(target).replays

/** Returns the GPU in the built-in table that a target names, or null for other targets. */
export const gpuOfTarget = (target: { kind: TargetKindId; name: string }): BuildGpu | null =>
  kindOf(target).namesGpu ? buildGpu(target.name) : null
