/**
 * Reads a recording's raw output from `raw/<name>.jsonl.br`, next to the path of its session
 * folder.
 *
 * The file is one Brotli stream. The stream contains a line with a SHA-256 hash, followed by the
 * rows of a raw.jsonl file. Brotli has no checksum, so without the hash, a changed byte could alter
 * a number unnoticed. Long streams within a row are compressed separately, so that they are
 * decompressed only on demand.
 */
import { basename, dirname, join } from 'node:path'
import { message } from '../../domain/messages/message'
import { sha256 } from '../disk/build-cache'
import { diskError, errorCode, mebibyte, readPlainBytes } from '../disk/disk'
import { rowsIn, type RowText } from '../disk/json-lines'
import { damaged, unpacked } from './raw-rows'

/** Returns the path of the compressed file for the session whose folder would be `folder`. */
export const recordedRaw = (folder: string): string =>
  join(dirname(folder), 'raw', `${basename(folder)}.jsonl.br`)

/** Maximum size of the rows in bytes, which is sixty times the size of the largest recording. */
const recordedLimitBytes = 64 * mebibyte

export const checksumLine = (rows: string): string =>
  `${JSON.stringify({ sha256: sha256(rows) })}\n`

/** Returns a recording's rows, or null if the file does not exist. */
export async function recordedRows(folder: string): Promise<readonly RowText[] | null> {
  const path = recordedRaw(folder)
  const bytes = await readPlainBytes(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null
    throw diskError(error, path, 'read')
  })
  if (bytes === null) return null
  const text = await unpacked('brotli', bytes, recordedLimitBytes, path)
  const rowsAt = text.indexOf('\n') + 1
  if (text.slice(0, rowsAt) !== checksumLine(text.slice(rowsAt)))
    throw damaged(path, message('files.wrongChecksum'))
  return rowsIn(text, path).slice(1)
}
