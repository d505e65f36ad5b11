// @ts-check
/** Unpacks a shipped recording's sources into files, like the `sources/` of a local session. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './project.mjs'

/** @param {string} recording its name @param {string} folder where the sources go */
export function copySources(recording, folder) {
  const from = join(root, 'resources/recordings', recording)
  /** @type {{ store: string, files: Record<string, string> }} */
  const { store, files } = JSON.parse(readFileSync(join(from, 'sources.json'), 'utf8'))
  /** @type {{ sha256: string, text: string }[]} */
  const contents = readFileSync(join(from, store), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const texts = new Map(contents.map(({ sha256, text }) => [sha256, text]))
  for (const [path, hash] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), texts.get(hash) ?? '')
  }
}
