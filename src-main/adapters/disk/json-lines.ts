/** Reads JSON Lines files row by row. */
import { diskError, errorCode, readPlainFile } from './disk'

/** A row's text, and its location for error messages. */
export interface RowText {
  text: string
  place: string
}

/** Splits a file's text into rows. */
export const rowsIn = (text: string, path: string): RowText[] =>
  text
    .split('\n')
    .map((row, index) => ({ text: row, place: `${path}:${index + 1}` }))
    .filter((row) => row.text !== '')

/** Returns a file's rows, or null if the file does not exist. */
export async function rowsOf(path: string): Promise<RowText[] | null> {
  try {
    return rowsIn(await readPlainFile(path), path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw diskError(error, path, 'read')
    return null
  }
}
