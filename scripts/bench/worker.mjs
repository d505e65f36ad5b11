// @ts-check
/**
 * Runs one job in a separate process and prints the result as JSON: `worker.mjs JOB ARGUMENT…`.
 * Times are in seconds. Memory is the process's peak memory use in bytes.
 */
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../lib/project.mjs'

/**
 * Returns the peak memory of this process in bytes. `maxRSS` (in kilobytes) is only a fallback,
 * because it also includes the parent's peak at the start of this process.
 */
function peakBytes() {
  try {
    const [, kilobytes] =
      /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kilobytes !== undefined) return Number(kilobytes) * 1024
  } catch {
    // /proc/self/status exists only on Linux.
  }
  return process.resourceUsage().maxRSS * 1024
}

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return { seconds, cpuSeconds: (user + system) / 1e6, peakBytes: peakBytes() }
}

const csvStream = (/** @type {string} */ file) =>
  createReadStream(file, { encoding: 'utf8', highWaterMark: 2 ** 18 })

/** @type {Record<string, (...words: string[]) => Promise<object>>} */
const jobs = {
  /**
   * Converts every row of a table to a launch with values in base units. The benchmark discards the
   * launches.
   */
  async csv(file = '', parser = '') {
    const { readNcuCsv } = await import(parser)
    let rows = 0
    let cells = 0
    const cost = await timed(() =>
      readNcuCsv(csvStream(file), (/** @type {{ metrics: object }} */ launch) => {
        rows += 1
        if (rows === 1) cells = Object.keys(launch.metrics).length
        return true
      }),
    )
    return { ...cost, rows, cells }
  },

  /**
   * Converts every row to an array of strings, delivered in chunks. In this mode, papaparse does
   * the least possible work.
   */
  async papaparse(file = '') {
    const { default: Papa } = await import('papaparse')
    let rows = 0
    let cells = 0
    const cost = await timed(
      () =>
        new Promise((done, failed) => {
          Papa.parse(csvStream(file), {
            chunk: ({ data }) => {
              rows += data.length
              cells ||= /** @type {unknown[][]} */ (data)[0]?.length ?? 0
            },
            complete: done,
            error: failed,
          })
        }),
    )
    return { ...cost, rows, cells }
  },

  /** Parses a .ncu-rep file. */
  async report(file = '', parser = '') {
    const { parseNcuRep } = await import(parser)
    const beforeBytes = process.memoryUsage().rss
    const startedAt = performance.now()
    const { launches } = parseNcuRep(readFileSync(file))
    const seconds = (performance.now() - startedAt) / 1000
    const metrics = Object.keys(launches[0].metrics).length
    return { seconds, launches: launches.length, metrics, beforeBytes, peakBytes: peakBytes() }
  },

  /** Lists the sessions in a store. */
  async sessions(code = '', folder = '') {
    const { listAll } = await import(pathToFileURL(code).href)
    const places = {
      assets: { recordingsDir: join(root, 'resources/recordings') },
      machine: { folders: { sessions: join(folder, 'sessions'), cache: join(folder, 'cache') } },
    }
    let count = 0
    const cost = await timed(async () => {
      count = (await listAll(places)).length
    })
    return { count, ...cost }
  },
}

const [job = '', ...words] = process.argv.slice(2)
console.log(JSON.stringify(await jobs[job]?.(...words)))
