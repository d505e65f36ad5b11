/** Imports a session from an ncu report or an HTML report. */
import { basename, dirname, sep } from 'node:path'
import type { ImportAnswer } from '../../contract/sessions'
import { KernelLadderError } from '../../domain/errors'
import { withTexts } from '../../domain/messages/message'
import { importReport } from '../import/import-ncu'
import { isHtmlFile } from '../../adapters/sessions/html-report-file'
import { importHtml } from '../import/import-html'

/**
 * Imports a file that a host received. Messages contain only the file name. A file uploaded by a
 * browser is in a temporary folder that the user does not know.
 */
export async function importFile(
  path: string,
  { store, appVersion }: { store: string; appVersion: string },
): Promise<ImportAnswer> {
  try {
    const { folder } = (await isHtmlFile(path))
      ? await importHtml(path, { store })
      : await importReport(path, { store, appVersion })
    return { ref: basename(folder) }
  } catch (error) {
    if (!(error instanceof KernelLadderError)) throw error
    const named = (text: string) => text.replaceAll(dirname(path) + sep, '')
    throw new KernelLadderError(
      error.kind,
      withTexts(error.statement, named),
      error.remedy && withTexts(error.remedy, named),
      { cause: error },
    )
  }
}
