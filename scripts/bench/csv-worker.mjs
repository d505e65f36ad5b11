// @ts-check
/**
 * Parses a table once in a separate process: `csv-worker.mjs ours|papaparse FILE PARSER`. Prints
 * seconds, rows, and the process's peak memory.
 */
import { createReadStream } from 'node:fs'

const [who, file = '', parser = ''] = process.argv.slice(2)
const options = /** @type {const} */ ({ encoding: 'utf8', highWaterMark: 2 ** 18 })
let rows = 0
let cells = 0

/** Turns every row into a launch with values in base units; keeps none. */
async function ours() {
  const { readNcuCsv } = await import(parser)
  const stream = createReadStream(file, options)
  const startedAt = performance.now()
  await readNcuCsv(stream, (/** @type {{ metrics: object }} */ launch) => {
    rows += 1
    if (rows === 1) cells = Object.keys(launch.metrics).length
    return true
  })
  return performance.now() - startedAt
}

/** Turns every row into an array of strings, delivered in chunks: the least work papaparse can do. */
async function papaparse() {
  const { default: Papa } = await import('papaparse')
  const stream = createReadStream(file, options)
  const startedAt = performance.now()
  await new Promise((done, failed) => {
    Papa.parse(stream, {
      chunk: ({ data }) => {
        rows += data.length
        cells ||= /** @type {unknown[][]} */ (data)[0]?.length ?? 0
      },
      complete: done,
      error: failed,
    })
  })
  return performance.now() - startedAt
}

const cpuBefore = process.cpuUsage()
const ms = await (who === 'ours' ? ours() : papaparse())
const { maxRSS } = process.resourceUsage()
const { user, system } = process.cpuUsage(cpuBefore)
const cpuSeconds = (user + system) / 1e6
console.log(
  JSON.stringify({ seconds: ms / 1000, cpuSeconds, rows, cells, peakBytes: maxRSS * 1024 }),
)
