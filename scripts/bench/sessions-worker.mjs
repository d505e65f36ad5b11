// @ts-check
/** Lists the sessions of a store once and prints how long that took and the most memory that this process had. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../lib/project.mjs'

const [code = '', folder = ''] = process.argv.slice(2)
const { listAll } = await import(pathToFileURL(code).href)
const places = {
  assets: { recordingsDir: join(root, 'resources/recordings') },
  machine: { folders: { sessions: join(folder, 'sessions'), cache: join(folder, 'cache') } },
}
const before = process.cpuUsage()
const start = performance.now()
const { length } = await listAll(places)
const seconds = (performance.now() - start) / 1000
// maxRSS is in kilobytes.
const peakBytes = process.resourceUsage().maxRSS * 1024
const { user, system } = process.cpuUsage(before)
console.log(
  JSON.stringify({ count: length, seconds, cpuSeconds: (user + system) / 1e6, peakBytes }),
)
