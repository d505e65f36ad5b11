/**
 * Looks up names for completion: ladders, rungs, sessions and fixed word lists.
 *
 * The lookups are read-only and never throw an error.
 */
import { readdir } from 'node:fs/promises'
import type { Setup, SetUp } from '../../../adapters/machine/machine'
import { gpus } from '../../../domain/gpu/gpu-table'
import { profileLevels } from '../../../domain/metrics/metric-definition'
import { reportSections } from '../../../domain/report/frozen-report'
import { allSections, reportFormats } from '../../../domain/report/report-format'
import { sanitizerTools } from '../../../domain/session/sanitizer'
import { runnableKinds } from '../../../domain/targets/targets'
import { shellNames } from './scripts'

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

/** The ladder or session that a name on the command line belongs to, if known. */
interface Within {
  ladder: string | undefined
  session: string | undefined
}

const words = (all: readonly string[]): Candidate[] => all.map((word) => ({ word }))

async function ladders({ assets }: Setup): Promise<Candidate[]> {
  const { readCatalog } = await import('../../../adapters/catalog/catalog')
  const catalog = await readCatalog(assets.kernelsDir)
  return catalog.ladders.map(({ id, title }) => ({ word: id, about: title }))
}

async function sessions(setup: Setup): Promise<Candidate[]> {
  const { listAll } = await import('../../../services/sessions/list-sessions')
  const all = await listAll(setup)
  return all.map(({ ref, ladder, deviceName }) => ({
    word: ref,
    about: [ladder.title, deviceName].filter(Boolean).join(', '),
  }))
}

/** Returns the rungs of the session or ladder that the command line names. */
async function rungs(setup: Setup, { ladder, session }: Within): Promise<Candidate[]> {
  if (session !== undefined) {
    const { openNamed } = await import('../../../services/sessions/open-session')
    const opened = await openNamed(setup, session)
    return opened.session.rungs.map(({ id, title }) => ({ word: id, about: title }))
  }
  if (ladder === undefined) return []
  const { openLadder } = await import('../../../services/folders/open')
  const { catalog, id } = await openLadder(setup, ladder)
  const file = catalog.ladders.find((one) => one.id === id)
  return (file?.rungs ?? []).map((entry) => ({
    word: entry.as ?? entry.id,
    about: entry.title ?? catalog.rungs.get(entry.id)?.header.title ?? '',
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
  const { listLabs } = await import('../../../services/labs/find-lab')
  return (await listLabs(setup)).labs.map(({ id, lab }) => ({ word: id, about: lab.title }))
}

const templates = async ({ assets }: Setup): Promise<Candidate[]> =>
  words((await readdir(assets.templatesDir)).sort())

/**
 * Returns a function that looks up completion candidates. If an error occurs, the function returns
 * an empty list, because the shell cannot show errors.
 */
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
          return words([...reportSections, allSections])
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
