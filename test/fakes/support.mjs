// Shared by the fake tools: the recording they replay and the log of their calls.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '..', '..')
const usual = 'gemm-fp32-h200-1024'

/** The calls of a recording, a row each. */
const rowsOf = (recording) =>
  readFileSync(join(root, 'resources', 'recordings', recording, 'raw.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

export function recorded(key, stream = 'stdout', recording = usual) {
  const row = rowsOf(recording).find((call) => call.key === key)
  if (!row) throw new Error(`${recording} has no call ${key}`)
  const text = row[stream]
  return typeof text === 'string'
    ? text
    : gunzipSync(Buffer.from(text.gzip, 'base64')).toString('utf8')
}

const definitions = (words) =>
  words
    .filter((word) => word.startsWith('-D'))
    .sort()
    .join(' ')

/** The rung that was recorded of this source with these parameters; the source's own name where none was. */
export function recordedVariant(source, words) {
  const found = rowsOf(usual).find(
    ({ tool, argv }) =>
      tool === 'nvcc' && argv.includes(source) && definitions(argv) === definitions(words),
  )
  return basename(found?.key ?? source, '.cu')
}

export const capture = (path) => readFileSync(join(root, 'test', 'captures', path), 'utf8')

/** A captured call: `capturedCall('nvcc/13.0.88', 'undefined').stderr`. */
export const capturedCall = (folder, name) => JSON.parse(capture(`${folder}/calls.json`))[name]

export function logWords(...words) {
  const log = process.env.FAKE_LOG
  if (log) appendFileSync(log, `${JSON.stringify(words)}\n`)
}

/** The calls of a fake tool so far, its name first. */
export function callsOf(tool) {
  const log = process.env.FAKE_LOG
  if (!log || !existsSync(log)) return []
  const calls = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  return calls.map((line) => JSON.parse(line)).filter(([name]) => name === tool)
}

export const logCall = (tool) => logWords(tool, ...process.argv.slice(2))

/** What the runner tells of a rung's launches, from what ncu told of them in the same recording. */
export function recordedLaunches(rung) {
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
}

/** Each machine of fakes has a GPU of its own, so that tests beside one another do not wait for it. */
export function busIdOfMachine() {
  const hash = createHash('sha256').update(process.env.KERNEL_LADDER_CACHE ?? '')
  const digits = hash.digest('hex').toUpperCase()
  return `${digits.slice(0, 8)}:${digits.slice(8, 10)}:00.0`
}

/** Writes at once, also to a pipe whose reader is slow: a fake may die the moment after. */
export const say = (text) => process.stdout.write(text)

export const option = (name) => {
  const index = process.argv.indexOf(name)
  return index < 0 ? undefined : process.argv[index + 1]
}

export const options = (name) =>
  process.argv.flatMap((word, index) => (process.argv[index - 1] === name ? [word] : []))

export const faultIn = (text) => /^\/\/ fault: (\S+)/m.exec(text)?.[1]

/** The recorded rung whose part a source plays that was never recorded: a lab's submission. */
export const likeOf = (text) => /^\/\/ like: (\S+)/m.exec(text)?.[1]

/** A rung's fault in `$FAKE_FAULTS`, `02_coalesced=hang,…`, for tests that cannot edit the source. */
export const faultOf = (rung) =>
  (process.env.FAKE_FAULTS ?? '')
    .split(',')
    .find((word) => word.startsWith(`${rung}=`))
    ?.slice(rung.length + 1)
