/**
 * The kinds of targets. A kind is a file beside this one, a line here, a runner in services/targets and its
 * words; nothing else asks which kind a target is, but what its kind can do.
 */
import { z } from 'zod'
import { buildGpu, type BuildGpu } from '../gpu/gpus'
import { imported } from './imported'
import { local } from './local'
import { recorded } from './recorded'
import { built } from './static'
import type { Capabilities, TargetKind } from './target-kind'

/** By the word that session.json has for it. */
export const targetKinds = {
  live: local,
  recorded,
  imported,
  static: built,
} as const satisfies Record<string, TargetKind>

type Kinds = typeof targetKinds
export type TargetKindId = keyof Kinds
/** Those that a run can be asked for. */
export type RunnableKind = {
  [K in TargetKindId]: Kinds[K]['syntax'] extends null ? never : K
}[TargetKindId]

const ids = Object.keys(targetKinds) as [TargetKindId, ...TargetKindId[]]

/** What a session was made on. */
export const Target = z.object({
  kind: z.enum(ids),
  /** `local`, the recording's name, the imported file's, or the GPU's as `--target static:` takes it. */
  name: z.string(),
})
export type Target = z.infer<typeof Target>

/** A target as a run is asked for it; its name is null where none was given. */
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

/** As it is written after `--target`; an import, which is not, is its file's name. */
export const printTarget = ({ kind, name }: { kind: TargetKindId; name: string | null }): string =>
  kindOf({ kind }).syntax?.print(name) ?? name ?? ''

const syntaxes = ids.flatMap((kind) => {
  const { syntax, help } = kindOf({ kind })
  return syntax ? [{ kind: kind as RunnableKind, syntax, help }] : []
})

/** The kinds that a run can be asked for, with how they are written. */
export const runnableKinds: readonly {
  kind: RunnableKind
  syntax: NonNullable<TargetKind['syntax']>
}[] = syntaxes

const written = (syntax: NonNullable<TargetKind['syntax']>): string[] =>
  [syntax.bare, syntax.named].filter((word) => word !== null)

/** `local, recorded, recorded:<name>, static:<gpu>`. */
export const targetUsage = syntaxes.flatMap(({ syntax }) => written(syntax)).join(', ')

/** The same, with what each is. */
export const targetHelp = syntaxes
  .map(({ syntax, help }) => `${written(syntax).join(' or ')} (${help})`)
  .join(', ')

/** As a request of a run holds it. */
export const TargetText = z
  .string()
  .refine((text) => parseTarget(text) !== null, { error: `Targets: ${targetUsage}.` })

/** Of those that time rungs, the ones that need no name: what a lab is checked on. */
export const labTargets: readonly string[] = syntaxes.flatMap(({ kind, syntax }) =>
  targetKinds[kind].can.times && syntax.bare !== null ? [syntax.bare] : [],
)

export const LabTarget = z.enum(labTargets as readonly [string, ...string[]], {
  error: `Targets of a lab: ${labTargets.join(', ')}.`,
})
export type LabTarget = z.infer<typeof LabTarget>

/** Rungs were compiled and never launched. */
export const isBuiltOnly = (target: { kind: TargetKindId }): boolean =>
  can(target).builds && !can(target).runs

/** Measured when the session was made, and not before. */
export const isMeasuredNow = (target: { kind: TargetKindId }): boolean =>
  can(target).times && !can(target).replays

/** The GPU of the table that a target names. */
export const gpuOfTarget = (target: { kind: TargetKindId; name: string }): BuildGpu | null =>
  kindOf(target).namesGpu ? buildGpu(target.name) : null
