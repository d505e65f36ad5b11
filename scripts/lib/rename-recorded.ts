/**
 * Renames rungs in the recordings to their current ids (src-main/domain/ladder/former-ids.ts).
 * The functions rename rungs in sessions, raw output, sources and lab attempts. Figures stay
 * unchanged.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { sha256 } from '../../src-main/adapters/disk/build-cache'
import {
  readStore,
  sourceStoreFile,
  writeStore,
} from '../../src-main/adapters/sessions/source-store'
import { checksumLine } from '../../src-main/adapters/tools/recorded-raw'
import { smallest } from '../../src-main/adapters/tools/raw-rows'
import { formerIds } from '../../src-main/domain/ladder/former-ids'

const former = new RegExp(`\\b(${Object.keys(formerIds).join('|')})\\b`, 'g')

/** Replaces former ids in the text with current ids. */
export const renamed = (text: string): string => text.replace(former, (id) => formerIds[id]!)

const unbrotli = (base64: string): string =>
  brotliDecompressSync(Buffer.from(base64, 'base64')).toString('utf8')

/** Renames rungs in a row of raw output. Long streams in the row are compressed separately. */
async function renamedRow(line: string): Promise<string> {
  const row = JSON.parse(renamed(line)) as Record<string, unknown>
  for (const name of ['stdout', 'stderr']) {
    const stream = row[name]
    if (typeof stream !== 'object' || stream === null || !('brotli' in stream)) continue
    const text = unbrotli(String(stream.brotli))
    if (renamed(text) !== text)
      row[name] = { brotli: (await smallest(renamed(text))).toString('base64') }
  }
  return JSON.stringify(row)
}

async function renameRaw(file: string): Promise<void> {
  const text = brotliDecompressSync(await readFile(file)).toString('utf8')
  const [, ...lines] = text.split('\n').filter(Boolean)
  const rows = await Promise.all(lines.map(renamedRow))
  const body = rows.map((row) => `${row}\n`).join('')
  const old = lines.map((line) => `${line}\n`).join('')
  if (body !== old) await writeFile(file, await smallest(checksumLine(body) + body))
}

/** Renames rungs in sources. Returns the new hash of each source whose text changed. */
async function renameSources(file: string): Promise<Map<string, string>> {
  const { lists, contents } = await readStore(file)
  const hashes = new Map<string, string>()
  for (const [hash, text] of [...contents]) {
    const fresh = renamed(text)
    if (fresh === text) continue
    contents.delete(hash)
    contents.set(sha256(fresh), fresh)
    hashes.set(hash, sha256(fresh))
  }
  for (const [session, files] of lists)
    lists.set(
      session,
      Object.fromEntries(
        Object.entries(files).map(([path, hash]) => [renamed(path), hashes.get(hash) ?? hash]),
      ),
    )
  await writeStore(file, { lists, contents })
  return hashes
}

/** Renames rungs in all recordings. Returns the number of files read. */
export async function renameRecorded(recordings: string): Promise<number> {
  const hashes = await renameSources(join(recordings, sourceStoreFile))
  const names = await readdir(recordings, { recursive: true })
  const files = names.map((name) => join(recordings, name))
  for (const file of files)
    if (basename(dirname(file)) === 'raw') await renameRaw(file)
    else if (/\/(sessions|attempts)\.jsonl$/.test(file)) {
      const text = renamed(await readFile(file, 'utf8'))
      await writeFile(
        file,
        text.replace(/\b[0-9a-f]{64}\b/g, (hash) => hashes.get(hash) ?? hash),
      )
    }
  return files.length
}
