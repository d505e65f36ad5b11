/** `kernel-ladder import`: creates a session from an ncu file or an HTML report. */
import { resolve } from 'node:path'
import { givenFile } from '../../../adapters/disk/names'
import type { SetUp } from '../../../adapters/machine/machine'
import { exitCodes, inputError } from '../../../domain/errors'
import { importReport, type ImportResult } from '../../../services/import/import-ncu'
import { appVersion } from '../../../services/version'
import { runDocument, sessionFields } from '../documents/run'
import { note, printError, printJson, printText } from '../output'
import { isHtmlFile } from '../../../adapters/sessions/html-report-file'
import { importHtml } from '../../../services/import/import-html'
import { sessionText } from '../describe/describe-static'

export interface ImportOptions {
  out?: string
  order?: string
  name?: string[]
  which?: string
  json?: boolean
}

export async function importCommand(
  setUp: SetUp,
  file: string,
  options: ImportOptions,
): Promise<number> {
  const { machine } = await setUp()
  const place = {
    store: machine.folders.sessions,
    ...(options.out === undefined ? {} : { out: resolve(options.out) }),
  }
  const { session, folder, misplaced } = await importGiven(file, options, place)
  if (options.json) printJson(runDocument, sessionFields(session, folder))
  else printText(sessionText(session))
  note(`Saved in ${folder}`)
  if (misplaced) printError(misplaced)
  return misplaced ? exitCodes[misplaced.kind] : 0
}

interface Place {
  store: string
  out?: string
}

async function importGiven(
  file: string,
  options: ImportOptions,
  place: Place,
): Promise<ImportResult> {
  const { path, remove } = await givenFile(file)
  try {
    return await ((await isHtmlFile(path))
      ? importPage(path, options, place)
      : importProfile(path, options, place))
  } finally {
    await remove()
  }
}

async function importPage(
  file: string,
  options: ImportOptions,
  place: Place,
): Promise<ImportResult> {
  const { order, name, which } = options
  const given = order === undefined ? (name === undefined ? null : '--name') : '--order'
  if (given)
    throw inputError(
      `${given} applies only to ncu files; an HTML report already has its rungs in order.`,
    )
  if (which !== undefined && which !== 'first' && which !== 'second')
    throw inputError(`--which must be first or second, not ${JSON.stringify(which)}.`)
  return importHtml(file, { ...place, ...(which === undefined ? {} : { which }) })
}

async function importProfile(
  file: string,
  options: ImportOptions,
  place: Place,
): Promise<ImportResult> {
  if (options.which !== undefined)
    throw inputError('--which applies only to HTML reports with two sessions.')
  const order = options.order
    ?.split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  if (order?.length === 0)
    throw inputError('--order is empty.', 'For example: --order 02_tile,00_naive.')
  return importReport(file, {
    ...place,
    appVersion,
    ...(order ? { order } : {}),
    names: parseNames(options.name ?? []),
  })
}

function parseNames(words: readonly string[]): Map<string, string> {
  return new Map(
    words.map((word) => {
      const [, id, name] = /^([^=]+)=(.*\S.*)$/.exec(word) ?? []
      if (id === undefined || name === undefined)
        throw inputError(
          `--name ${JSON.stringify(word)} is not of the form ID=NAME.`,
          'For example: --name 00_tile="32 wide".',
        )
      return [id.trim(), name.trim()] as const
    }),
  )
}
