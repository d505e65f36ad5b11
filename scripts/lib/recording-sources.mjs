// @ts-check
/** Unpacks a shipped recording's sources into files, like the `sources/` of a local session. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './project.mjs'

/** @param {string} recording its name @param {string} folder where the sources go */
export function copySources(recording, folder) {
  const store = join(root, 'resources/recordings/sources.jsonl')
  /** @type {({ sha256: string, text: string } | { session: string, files: Record<string, string> })[]} */
  const lines = readFileSync(store, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const texts = new Map(lines.flatMap((line) => ('text' in line ? [[line.sha256, line.text]] : [])))
  const own = lines.find((line) => 'session' in line && line.session === recording)
  if (!own || !('files' in own)) throw new Error(`${store} has no sources of ${recording}.`)
  for (const [path, hash] of Object.entries(own.files)) {
    const text = texts.get(hash)
    if (text === undefined) throw new Error(`${store} has no content ${hash}.`)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
