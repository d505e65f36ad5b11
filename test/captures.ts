/** Real output of real tools, below test/captures: calls with their argv, and rows of what is packed. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliDecompressSync, brotliCompressSync, constants } from 'node:zlib'

const root = join(import.meta.dirname, 'captures')

interface Call {
  argv: string
  /** What it compiled, by file name. */
  sources?: Record<string, string>
  exit?: number
  stdout: string
  stderr?: string
  /** What it wrote into its log file. */
  log?: string
  /** The file that it was told to save. */
  saved?: string
}

const known = new Map<string, Record<string, Call>>()

/** The calls in a folder, from its `calls.json`: `captures('ncu/2025.3.1-h200')`. */
export function captures(folder: string): Record<string, Call> {
  const calls =
    known.get(folder) ??
    (JSON.parse(readFileSync(join(root, folder, 'calls.json'), 'utf8')) as Record<string, Call>)
  known.set(folder, calls)
  return calls
}

/** A call of a tool and what came of it: `capture('ncu/2025.3.1-h200/no-kernels')`. */
export function capture(name: string): Call {
  const call = captures(dirname(name))[basename(name)]
  if (!call) throw new Error(`test/captures/${dirname(name)}/calls.json has no ${basename(name)}.`)
  return call
}

export const ncuCapture = (name: string): string => capture(`ncu/2025.3.1-h200/${name}`).stdout

export const ncuReportFile = (name: string): string =>
  join(root, 'ncu/2025.3.1-h200', `${name}.ncu-rep`)

/** Whole programs under ncu: `programs/deep-twelve`. */
const programs = 'ncu/2025.3.1-h200-programs'

export const programCapture = (name: string): Call => capture(`${programs}/${name}`)

/** A report of ncu; the large ones are kept compressed. */
export function ncuReport(name: string): Uint8Array {
  const [, ofPrograms] = /^programs\/(.*)$/.exec(name) ?? []
  const path =
    ofPrograms === undefined ? ncuReportFile(name) : join(root, programs, `${ofPrograms}.ncu-rep`)
  return existsSync(path)
    ? new Uint8Array(readFileSync(path))
    : new Uint8Array(brotliDecompressSync(readFileSync(`${path}.br`)))
}

export function nvccCapture(name: string): string {
  const { stdout, stderr } = capture(`nvcc/13.0.88/${name}`)
  return `${stderr ?? ''}\n${stdout}`
}

// Captures that are kept packed: a file of JSON lines, each with a name and bytes under Brotli, in base64. A row may carry
// the text that its bytes were made from as `source`.

interface Row {
  name: string
  source?: string
  brotli: string
}

const pathOf = (file: string): string => join(root, file)

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
