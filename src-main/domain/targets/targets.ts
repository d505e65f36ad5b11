/**
 * The target kinds. A kind is an entry in ./kinds, a line here, a runner in services/targets and its
 * messages; other code asks only what a target can do, never which kind it is.
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

/** By the name used in session.json, in the order in which runs are offered. */
export const targetKinds = {
  live: local,
  emulated,
  predicted,
  recorded,
  imported,
  program,
  static: built,
  // Last: it takes any name that means nothing else.
  machine,
} as const satisfies Record<string, TargetKind>

type Kinds = typeof targetKinds
export type TargetKindId = keyof Kinds
/** The kinds that a run can be requested for. */
export type RunnableKind = {
  [K in TargetKindId]: Kinds[K]['syntax'] extends null ? never : K
}[TargetKindId]

const ids = Object.keys(targetKinds) as [TargetKindId, ...TargetKindId[]]

/** What produced a session. */
export const Target = z.object({
  kind: z.enum(ids),
  /** `local`, the name of the recording or imported file, or the GPU as given to `--target static:`. */
  name: z.string(),
})
export type Target = z.infer<typeof Target>

/** A target as requested for a run; its name is null if none was given. */
export interface ParsedTarget {
  kind: RunnableKind
  name: string | null
}

export const kindOf = ({ kind }: { kind: TargetKindId }): TargetKind => targetKinds[kind]

/** What the kind of a target can do. */
export const can = (target: { kind: TargetKindId }): Capabilities => kindOf(target).can

export function parseTarget(text: string): ParsedTarget | null {
  for (const kind of ids) {
    const parsed = targetKinds[kind].syntax?.parse(text)
    if (parsed) return { kind: kind as RunnableKind, name: parsed.name }
  }
  return null
}

/** As written after `--target`; an import, which cannot be a target, prints its file name. */
export const printTarget = ({ kind, name }: { kind: TargetKindId; name: string | null }): string =>
  kindOf({ kind }).syntax?.print(name) ?? name ?? ''

const syntaxes = ids.flatMap((kind) => {
  const { syntax, help } = kindOf({ kind })
  return syntax ? [{ kind: kind as RunnableKind, syntax, help }] : []
})

/** The kinds that a run can be requested for, with their syntax. */
export const runnableKinds: readonly {
  kind: RunnableKind
  syntax: NonNullable<TargetKind['syntax']>
}[] = syntaxes

const written = (syntax: NonNullable<TargetKind['syntax']>): string[] =>
  [syntax.bare, syntax.named].filter((word) => word !== null)

/** `local, emulated, emulated:<gpu>, recorded, recorded:<name>`, and so on. */
export const targetUsage = syntaxes.flatMap(({ syntax }) => written(syntax)).join(', ')

/** The same, with an explanation of each. */
export const targetHelp = syntaxes
  .map(({ syntax, help }) => `${written(syntax).join(' or ')} (${help})`)
  .join(', ')

/** The form used in run requests. */
export const TargetText = z
  .string()
  .refine((text) => parseTarget(text) !== null, { error: `Targets: ${targetUsage}.` })

/** What memory and race checks run on: a GPU under compute-sanitizer, or an emulated one. */
export const SanitizeTarget = TargetText.refine(
  (text) => {
    const { runs, replays, predicts } = can(parseTarget(text)!)
    return runs && !replays && !predicts
  },
  { error: 'Memory and race checks run on local or emulated.' },
)

/** Whether a target times rungs on a GPU, here or elsewhere: what a sweep needs. */
export function timesOnGpu(text: string): boolean {
  const parsed = parseTarget(text)
  return parsed !== null && (can(parsed).needsGpu || can(parsed).elsewhere === true)
}

/** The kinds that run rungs and need no name: what a lab can be checked on. */
export const labTargets: readonly string[] = syntaxes.flatMap(({ kind, syntax }) =>
  targetKinds[kind].can.runs && syntax.bare !== null ? [syntax.bare] : [],
)

export const LabTarget = z.enum(labTargets as readonly [string, ...string[]], {
  error: `Targets for a lab: ${labTargets.join(', ')}.`,
})
export type LabTarget = z.infer<typeof LabTarget>

/**
 * What a lab is checked on unless another is asked for: this machine's GPU, else an emulated one, else a recording. Times
 * are predicted as well where a check needs them and the model knows a GPU.
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

/** Whether rungs were compiled but never launched. */
export const isBuiltOnly = (target: { kind: TargetKindId }): boolean =>
  can(target).builds && !can(target).runs

/** Whether rungs were executed without a GPU, so that there are counts and no times. */
export const isEmulated = (target: { kind: TargetKindId }): boolean =>
  can(target).runs && !can(target).times && !can(target).predicts

/** Whether times are those of a model. */
export const isPredicted = (target: { kind: TargetKindId }): boolean =>
  can(target).predicts === true

/** Whether the session was measured when it was made, as opposed to replayed. */
export const isMeasuredNow = (target: { kind: TargetKindId }): boolean =>
  can(target).times && !can(target).replays

/** The GPU of the built-in table that a target names. */
export const gpuOfTarget = (target: { kind: TargetKindId; name: string }): BuildGpu | null =>
  kindOf(target).namesGpu ? buildGpu(target.name) : null
