/**
 * Returns the library that contains a requested ladder, plus the edited copies that the request
 * names.
 */
import { type Catalog } from '../../adapters/catalog/catalog'
import type { Setup } from '../../adapters/machine/machine'
import { draftStore } from '../../adapters/sessions/draft-store'
import type { RunRequest } from '../../contract'
import type { Parameters } from '../../domain/ladder/rung'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { LadderEntry, LadderFile } from '../../domain/ladder/ladder'
import { commitLadder, type CommitsRequest } from './commits'
import { openTrustedLadder } from './open'
import { findLadder, taskOf } from '../catalog/resolve'
import type { Draft } from '../../domain/ladder/draft'
import { draftRung } from '../../adapters/catalog/draft-rung'

type Copy = Pick<Draft, 'ladder' | 'base' | 'rung' | 'params' | 'source'>

const idOf = (entry: LadderEntry): string => entry.as ?? entry.id

/** Returns the library with a rung's copy added to its ladder, directly after the original rung. */
export function withCopy(catalog: Catalog, copy: Copy): Catalog {
  const ladder = findLadder(catalog, copy.ladder)
  const source = draftRung(copy, taskOf(catalog, ladder))
  const at = ladder.rungs.findIndex((entry) => idOf(entry) === copy.base)
  const base = ladder.rungs[at]
  if (!base) throw inputError(message('drafts.noBase', { ladder: copy.ladder, rung: copy.base }))
  if (ladder.rungs.some((entry) => idOf(entry) === copy.rung))
    throw inputError(message('drafts.taken', { ladder: copy.ladder, rung: copy.rung }))
  const entry: LadderEntry = {
    id: copy.rung,
    params: declared(copy.params, source.header.params),
    ...(base.options === undefined ? {} : { options: base.options }),
  }
  const extended: LadderFile = {
    ...ladder,
    rungs: [...ladder.rungs.slice(0, at + 1), entry, ...ladder.rungs.slice(at + 1)],
  }
  return {
    ...catalog,
    ladders: catalog.ladders.map((each) => (each.id === ladder.id ? extended : each)),
    rungs: new Map([...catalog.rungs, [copy.rung, source]]),
  }
}

/** Returns the parent's parameter values that the copy still declares and allows. */
const declared = (
  params: Parameters,
  header: readonly { name: string; allowed: readonly number[] }[],
): Parameters =>
  Object.fromEntries(
    Object.entries(params).filter(([name, value]) =>
      header.some((param) => param.name === name && param.allowed.includes(value)),
    ),
  )

/** Returns the copies of a ladder's rungs, newest first. */
export const copiesOf = async ({ machine }: Setup, ladder: string): Promise<Draft[]> =>
  (await draftStore(machine.folders.drafts).list()).filter((draft) => draft.ladder === ladder)

type Request = Pick<RunRequest, 'ladder' | 'draft' | 'rungs'>

/**
 * Returns the edited copies that a request needs: the requested draft, or each draft of a rung that
 * the request names.
 */
async function namedCopies(
  setup: Setup,
  catalog: Catalog,
  { ladder, draft: id, rungs = [] }: Request,
): Promise<Draft[]> {
  if (id !== undefined) {
    const draft = await draftStore(setup.machine.folders.drafts).read(id)
    if (draft) return [draft]
    throw inputError(message('drafts.gone'), message('drafts.openAgain'))
  }
  const own = new Set(findLadder(catalog, ladder).rungs.map(idOf))
  const others = rungs.filter((rung) => !own.has(rung))
  if (others.length === 0) return []
  return (await copiesOf(setup, ladder)).filter(({ rung }) => others.includes(rung))
}

/**
 * Returns the library for a request, and the request itself. If the request names a folder, the
 * ladder's id replaces the folder's path.
 */
export async function catalogFor<R extends Request>(
  setup: Setup & { commits?: CommitsRequest; signal?: AbortSignal },
  request: R,
): Promise<{ catalog: Catalog; request: R }> {
  const opened = await openTrustedLadder(setup, request.ladder)
  if (setup.commits) {
    const { catalog, id, rungs } = await commitLadder(opened, setup.commits, setup.signal)
    return { catalog, request: { ...request, ladder: id, rungs } }
  }
  const { catalog, id } = opened
  const own = { ...request, ladder: id }
  const copies = await namedCopies(setup, catalog, own)
  return { catalog: copies.reduce(withCopy, catalog), request: own }
}
