// @ts-check
/** Reads the shipped recordings, for scripts that create sessions from a recording. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './project.mjs'

/** @param {string} name of the file to parse @returns {any[]} */
const rowsOf = (name) =>
  readFileSync(join(root, 'resources/recordings', name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/**
 * Returns a recording's session.json.
 * @param {string} recording name of the recording
 */
export function recordedSession(recording) {
  const row = rowsOf('sessions.jsonl').find(({ session }) => session === recording)
  if (!row) throw new Error(`No recording is named ${recording}.`)
  const { session: _, ...session } = row
  return session
}

/**
 * Unpacks a recording's sources into files. The layout is the same as in the `sources/` folder of a
 * local session.
 * @param {string} recording name of the recording @param {string} folder for the sources
 */
export function copySources(recording, folder) {
  /** @type {({ sha256: string, text: string } | { session: string, files: Record<string, string> })[]} */
  const lines = rowsOf('sources.jsonl')
  const texts = new Map(lines.flatMap((line) => ('text' in line ? [[line.sha256, line.text]] : [])))
  const own = lines.find((line) => 'session' in line && line.session === recording)
  if (!own || !('files' in own)) throw new Error(`The sources of ${recording} are not recorded.`)
  for (const [path, hash] of Object.entries(own.files)) {
    const text = texts.get(hash)
    if (text === undefined) throw new Error(`The content ${hash} is not recorded.`)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
