// Reads the recordings and captures that the fake tools replay.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

const root = join(import.meta.dirname, '..', '..')
const usual = 'gemm-fp32-h200-1024'

/** Returns a function that caches each value until the process ends. */
const once = (read) => {
  const known = new Map()
  return (key) => {
    if (!known.has(key)) known.set(key, read(key))
    return known.get(key)
  }
}

/** Returns the tool calls stored in a recording. The first line of the file is the checksum. */
const rowsOf = once((recording) => {
  // The grader hides the built-in recordings, because they contain solutions.
  const folder = process.env.FAKE_RECORDINGS ?? join(root, 'resources', 'recordings', 'raw')
  const file = join(folder, `${recording}.jsonl.br`)
  const [, ...rows] = brotliDecompressSync(readFileSync(file)).toString('utf8').trim().split('\n')
  return rows.map((row) => JSON.parse(row))
})

export function recorded(key, stream = 'stdout', recording = usual) {
  const row = rowsOf(recording).find((call) => call.key === key)
  if (!row) throw new Error(`${recording} has no call ${key}`)
  if (typeof row[stream] !== 'string')
    row[stream] = brotliDecompressSync(Buffer.from(row[stream].brotli, 'base64')).toString('utf8')
  return row[stream]
}

const definitions = (words) =>
  words
    .filter((word) => /^-D\w+=/.test(word))
    .sort()
    .join(' ')

/**
 * Returns the name of the rung recorded for a source and its parameters. If none was recorded,
 * returns the source's own name.
 */
export function recordedVariant(source, words) {
  const found = rowsOf(usual).find(
    ({ tool, argv }) =>
      tool === 'nvcc' && argv.includes(source) && definitions(argv) === definitions(words),
  )
  return basename(found?.key ?? source, '.cu')
}

const capturedCalls = once(
  (folder) =>
    JSON.parse(readFileSync(join(root, 'test', 'captures', 'calls.json'), 'utf8'))[folder],
)

/** Returns a captured call, such as `capturedCall('nvcc/13.0.88', 'undefined').stderr`. */
export const capturedCall = (folder, name) => capturedCalls(folder)[name]

/**
 * Returns the runner's output about a rung's launches, derived from ncu's output in the same
 * recording.
 */
export const recordedLaunches = once((rung) => {
  const [header, , ...rows] = recorded('ncu/profile')
    .split('\n')
    .filter((line) => line.startsWith('"'))
    .map((line) => line.slice(1, -1).split('","'))
  const extent = (cell) => cell.match(/\d+/g).map(Number)
  return rows
    .map((row) => Object.fromEntries(header.map((name, at) => [name, row[at]])))
    .filter((row) => Object.values(row).some((cell) => cell.includes(`<default domain>:${rung}:`)))
    .map((row) => ({
      name: row['Kernel Name'],
      grid: extent(row['Grid Size']),
      block: extent(row['Block Size']),
      registersPerThread: Number(row.launch__registers_per_thread),
      staticSharedBytes: Number(row.launch__shared_mem_per_block_static),
      dynamicSharedBytes: Number(row.launch__shared_mem_per_block_dynamic),
      clusterBlocks: Number(row.launch__cluster_size),
    }))
})

export const faultIn = (text) => /^\/\/ fault: (\S+)/m.exec(text)?.[1]

/** Returns the recorded rung that an unrecorded source, such as a lab submission, replays. */
export const likeOf = (text) => /^\/\/ like: (\S+)/m.exec(text)?.[1]

/**
 * Returns whether a library replays a stored launch plan instead of running the submission's host
 * code.
 */
export const isReplay = (path) => readFileSync(path, 'utf8').startsWith('// replay')

/**
 * Imitates host code that writes to another user's files. The library contains the paths of the
 * files.
 */
export function writeElsewhere(library, path, complain) {
  for (const [, file] of library.matchAll(/^\/\/ path: (.+)/gm))
    try {
      writeFileSync(path(file), 'a submission was here\n')
    } catch (error) {
      complain(`${error.message}\n`)
    }
}

/**
 * Reads a rung's library. For a library that replays a launch plan, reads the library that the plan
 * names.
 */
export function readLibrary(path) {
  if (!isReplay(path)) return readFileSync(path, 'utf8')
  const [first] = readFileSync(join(dirname(path), 'plan'), 'utf8').split('\n')
  return readFileSync(first.slice('# '.length), 'utf8')
}
