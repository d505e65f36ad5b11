/** Imports a session from an HTML report. The session in the report is already scrubbed. */
import { basename, join, resolve } from 'node:path'
import type { ReadReport } from '../../adapters/sessions/report-file'
import { draftSession } from '../../adapters/sessions/session-store'
import { refuseTaken } from '../../adapters/disk/staging'
import { message } from '../../domain/messages/message'
import { inputError } from '../../domain/errors'
import type { FrozenDeep, FrozenSession } from '../../domain/report/frozen-report'
import { readFrozenReport } from '../../adapters/sessions/html-report-file'
import { saved, type ImportResult } from './import-ncu'

interface HtmlImportOptions {
  /** Folder for saved sessions. Used if no output folder is given. */
  store: string
  /** Output folder, which must not exist. */
  out?: string
  /** The session to import if the report compares two sessions. */
  which?: 'first' | 'second'
}

/**
 * Whether a path is valid in `sources/`. The check is needed because reports are untrusted input.
 */
const isSourcePath = (path: string): boolean =>
  path.length <= 200 && path.split('/').every((part) => /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/.test(part))

function pick(
  { report, deep }: ReadReport,
  path: string,
  which?: 'first' | 'second',
): FrozenSession & { deep: FrozenDeep } {
  const [first, second] = report.sessions.map((one, index) => ({ ...one, deep: deep[index]! }))
  if (second && which === undefined)
    throw inputError(message('imports.twoSessions', { file: path }), message('imports.sayWhich'))
  const found = which === 'second' ? second : first
  if (!found)
    throw inputError(message('imports.oneSession', { file: path }), message('imports.leaveWhich'))
  return found
}

/**
 * Imports a session from a report. If the report contains no readable session, throws an input
 * error that names the file.
 */
export async function importHtml(path: string, options: HtmlImportOptions): Promise<ImportResult> {
  const { session, sources, deep } = pick(
    await readFrozenReport(resolve(path)),
    path,
    options.which,
  )
  const texts = session.rungs.flatMap(({ id, file }) => {
    const text = sources[id]
    return text !== undefined && isSourcePath(file) ? [{ file, text }] : []
  })
  if (options.out !== undefined) await refuseTaken(options.out)
  const draft = await draftSession(options.out ?? join(options.store, folderName(session.id)))
  try {
    for (const { file, text } of texts) await draft.addSource(file, text)
    for (const [rung, profile] of Object.entries(deep))
      if (profile.rung === rung) await draft.addDeep(profile)
    await draft.markImported(basename(path))
    return saved(session, await draft.commit(session), options.out)
  } catch (error) {
    await draft.discard()
    throw error
  }
}

/**
 * Returns a folder name that is a valid SessionRef. The id in another user's report can be any
 * string.
 */
const folderName = (id: string): string =>
  id
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100) || 'report'
