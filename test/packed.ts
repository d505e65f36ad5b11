/**
 * Captures that are kept packed: a file of JSON lines, each with a name and bytes under Brotli, in base64. A row may carry
 * the text that its bytes were made from as `source`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

interface Row {
  name: string
  source?: string
  brotli: string
}

const pathOf = (file: string): string => join(import.meta.dirname, 'captures', file)

/** The rows of `test/captures/<file>`. */
export const packedRows = (file: string): Row[] =>
  existsSync(pathOf(file))
    ? readFileSync(pathOf(file), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Row)
    : []

export function packedRow(file: string, name: string): { bytes: Uint8Array; source: string } {
  const row = packedRows(file).find((one) => one.name === name)
  if (!row) throw new Error(`test/captures/${file} has no ${name}.`)
  const bytes = new Uint8Array(brotliDecompressSync(Buffer.from(row.brotli, 'base64')))
  return { bytes, source: row.source ?? '' }
}

/** Puts a row into the file, in place of one of its name. */
export function pack(
  file: string,
  name: string,
  bytes: string | Uint8Array,
  source?: string,
): void {
  // What repeats may be far apart.
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
  const brotli = brotliCompressSync(bytes, { params }).toString('base64')
  const rows = packedRows(file).filter((row) => row.name !== name)
  rows.push({ name, ...(source === undefined ? {} : { source }), brotli })
  rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  writeFileSync(pathOf(file), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
