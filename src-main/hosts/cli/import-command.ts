/** `kernel-ladder import`: a file of ncu becomes a session. */
import { resolve } from 'node:path'
import { sessionsDir } from '../../adapters/paths'
import { inputError } from '../../domain/errors'
import { importReport } from '../../services/import'
import { appVersion } from '../../services/version'
import { describeSession } from './describe'
import { note, printJson, printText } from './output'
import { sessionDocument } from './run-command'

export interface ImportOptions {
  out?: string
  order?: string
  name?: string[]
  json?: boolean
}

export async function importCommand(file: string, options: ImportOptions): Promise<number> {
  const order = options.order
    ?.split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  if (order?.length === 0)
    throw inputError('--order names no rung.', 'For example --order 02_tile,00_naive.')
  const { session, folder } = await importReport(file, {
    store: sessionsDir(),
    appVersion,
    ...(options.out === undefined ? {} : { out: resolve(options.out) }),
    ...(order ? { order } : {}),
    names: parseNames(options.name ?? []),
  })
  if (options.json) printJson(sessionDocument(session, folder))
  else printText(describeSession(session))
  note(`Saved in ${folder}`)
  return 0
}

function parseNames(words: readonly string[]): Map<string, string> {
  return new Map(
    words.map((word) => {
      const [, id, name] = /^([^=]+)=(.*\S.*)$/.exec(word) ?? []
      if (id === undefined || name === undefined)
        throw inputError(
          `--name ${JSON.stringify(word)} is not of the form ID=NAME.`,
          'For example --name 00_tile="32 wide".',
        )
      return [id.trim(), name.trim()] as const
    }),
  )
}
