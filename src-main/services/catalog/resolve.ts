/**
 * Finds ladders and rungs in the catalog. Resolves a ladder file to rungs with headers, sources,
 * and parameters.
 */
import { inputError } from '../../domain/errors'
import { findById } from '../../domain/ladder/former-ids'
import { mergedSettings } from '../../domain/ladder/build-settings'
import type { LadderRung, Ladder, LadderEntry, LadderFile } from '../../domain/ladder/ladder'
import { message, type Statement } from '../../domain/messages/message'
import type { Catalog, RungSource } from '../../adapters/catalog/catalog'
import type { Task } from '../../domain/task/task'
import type { PlannedRung } from '../../domain/run/plan'
import { list, checkParams } from './parameters'
import { problemAt } from '../../domain/task/problem-request'
import { meantOr } from '../../domain/text/nearest'

export function findLadder(catalog: Catalog, id: string): LadderFile {
  const ladder = catalog.ladders.find((candidate) => candidate.id === id)
  if (ladder) return ladder
  const fault = catalog.faults.get(id)
  if (fault) throw inputError(message('asked.ladderFault', { ladder: id, why: fault }))
  const ids = catalog.ladders.map((candidate) => candidate.id)
  throw inputError(
    message('asked.noLadder', { ladder: JSON.stringify(id) }),
    meantOr(id, ids, message('asked.ladders', { ladders: list(ids) })),
  )
}

export const entryId = (entry: LadderEntry): string => entry.as ?? entry.id

function sourceOf(catalog: Catalog, entry: LadderEntry, ladder: string): RungSource {
  const source = catalog.rungs.get(entry.id)
  if (source) return source
  const fault = catalog.faults.get(entry.id)
  throw inputError(fault ?? message('asked.noRungFile', { ladder, rung: entry.id }))
}

/**
 * Returns one of the ladder's rungs. The rung's parameters are its defaults, overridden by the
 * parameters in the ladder file.
 */
export function resolveRung(
  catalog: Catalog,
  { id: ladder, build: ofLadder }: Pick<LadderFile, 'id' | 'build'>,
  entry: LadderEntry,
): PlannedRung {
  const { header, file, text, headers, bytes } = sourceOf(catalog, entry, ladder)
  for (const [option, choice] of Object.entries(entry.options ?? {}))
    if (!header.options[option]?.includes(choice))
      throw inputError(
        message('asked.rungAccepts', {
          ...{ ladder, rung: entryId(entry), option, choice, file },
          choices: list(header.options[option] ?? []),
        }),
      )
  const defaults = Object.fromEntries(header.params.map((param) => [param.name, param.default]))
  const build = mergedSettings(ofLadder, entry.build)
  const rung: LadderRung = {
    id: entryId(entry),
    title: entry.title ?? header.title,
    header: entry.idea === undefined ? header : { ...header, idea: entry.idea },
    params: { ...defaults, ...checkParams(entry.params ?? {}, [header], entryId(entry)) },
    file,
    ...(entry.launch === undefined ? {} : { launch: entry.launch }),
    ...(build === undefined ? {} : { build }),
    ...(entry.options === undefined ? {} : { options: entry.options }),
    ...(entry.negative === undefined ? {} : { negative: entry.negative }),
    ...(entry.aside === undefined ? {} : { aside: entry.aside }),
    ...(entry.note === undefined ? {} : { note: entry.note }),
  }
  return { rung, source: text, ...(headers ? { headers } : {}), ...(bytes ? { bytes } : {}) }
}

export function taskOf(catalog: Catalog, { id, task }: LadderFile): Task {
  const found = catalog.tasks.get(task)
  if (found) return found
  throw inputError(message('asked.noTask', { ladder: id, task }))
}

/** Returns the ladder with its task and the given rungs. */
export function resolved(catalog: Catalog, file: LadderFile, rungs: LadderRung[]): Ladder {
  const { schema: _schema, order: _order, ...rest } = file
  const task = taskOf(catalog, file)
  const { scalars, options } = problemAt(task, {}, { ...file, sizes: file.sizes[0] })
  const folder = catalog.own === undefined ? {} : { folder: catalog.own }
  return { ...rest, ...folder, task, scalars, options, rungs }
}

/** Resolves the complete ladder. Throws an error for the first unusable rung. */
export const resolveLadder = (catalog: Catalog, file: LadderFile): Ladder =>
  resolved(
    catalog,
    file,
    file.rungs.map((entry) => resolveRung(catalog, file, entry).rung),
  )

export function selectRungs<T extends { id: string }>(
  all: readonly T[],
  wanted: readonly string[] | undefined,
  /** Description of the ladder or request that names the rungs, for error messages. */
  whole: Statement,
): T[] {
  if (!wanted) return [...all]
  const found = new Map(wanted.map((id) => [id, findById(all, id)]))
  const unknown = wanted.filter((id) => !found.get(id))
  const ids = all.map(({ id }) => id)
  if (unknown.length > 0)
    throw inputError(
      message('asked.noRung', { whole, rungs: list(unknown.map((id) => JSON.stringify(id))) }),
      meantOr(unknown[0]!, ids, message('asked.rungs', { rungs: list(ids) })),
    )
  const chosen = new Set(found.values())
  return all.filter((rung) => chosen.has(rung))
}
