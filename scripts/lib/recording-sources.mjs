// @ts-check
/** The sources of a recording that ships as the files of a `sources/` that a session of this machine has. */
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { root } from './project.mjs'

/** @param {string} recording its name @param {string} folder where the sources go */
export function copySources(recording, folder) {
  const from = join(root, 'resources/recordings', recording)
  /** @type {{ store: string, files: Record<string, string> }} */
  const { store, files } = JSON.parse(readFileSync(join(from, 'sources.json'), 'utf8'))
  for (const [path, hash] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(from, store, hash.slice(0, 16) + extname(path)), join(folder, path))
  }
}
