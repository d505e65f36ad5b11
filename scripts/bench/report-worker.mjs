// @ts-check
/** Parses a .ncu-rep once in a separate process: `report-worker.mjs FILE PARSER`. */
import { readFileSync } from 'node:fs'

const [file = '', parser = ''] = process.argv.slice(2)
const { parseNcuRep } = await import(parser)
const before = process.memoryUsage().rss
const startedAt = performance.now()
const { launches } = parseNcuRep(readFileSync(file))
const seconds = (performance.now() - startedAt) / 1000
console.log(
  JSON.stringify({
    seconds,
    launches: launches.length,
    metrics: Object.keys(launches[0].metrics).length,
    beforeBytes: before,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }),
)
