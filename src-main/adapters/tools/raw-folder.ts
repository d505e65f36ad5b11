/**
 * Converts the old raw output format, which was used before `raw.jsonl`, to current rows.
 *
 * A call with the key `nvcc/01_naive` has three files: `raw/nvcc/01_naive.json` (argv, outcome,
 * exit code), `.stdout.txt` and `.stderr.txt`. A long stream is gzipped, as in `.stdout.txt.gz`.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { RowText } from '../disk/json-lines'

/** Reads a stream. An empty stream has no file. */
async function streamOf(base: string, stream: 'stdout' | 'stderr') {
  const path = `${base}.${stream}.txt`
  const plain = await readFile(path, 'utf8').catch(() => null)
  if (plain !== null) return plain
  const gzipped = await readFile(`${path}.gz`).catch(() => null)
  return gzipped === null ? '' : { gzip: gzipped.toString('base64') }
}

async function rowOf(path: string): Promise<RowText & { startedAt: string }> {
  const base = path.slice(0, -'.json'.length)
  let call: Record<string, unknown>
  try {
    call = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
  } catch {
    throw inputError(
      message('files.rawDamaged', { file: path, why: message('files.noJson') }),
      message('files.rawLeft'),
    )
  }
  const row = {
    ...call,
    stdout: await streamOf(base, 'stdout'),
    stderr: await streamOf(base, 'stderr'),
  }
  return { text: JSON.stringify(row), place: path, startedAt: String(call.startedAt) }
}

/**
 * Returns the calls in a session's `raw/` folder, sorted by start time. Returns an empty list if
 * the folder does not exist.
 */
export async function rowsOfFolder(folder: string): Promise<RowText[]> {
  const root = join(folder, 'raw')
  const entries = await readdir(root, { recursive: true, encoding: 'utf8' }).catch(() => [])
  const paths = entries.filter((path) => path.endsWith('.json')).sort()
  const rows = await Promise.all(paths.map((path) => rowOf(join(root, path))))
  return rows.sort((a, b) => (a.startedAt < b.startedAt ? -1 : Number(a.startedAt > b.startedAt)))
}
