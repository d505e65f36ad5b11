/**
 * Tests a sandbox from the inside before any submission runs. The tests attempt every action that
 * the sandbox must prevent, and report the results.
 */
import { z } from 'zod'

export interface Attempts {
  /** Existing, nonempty files outside the sandbox. */
  files: readonly string[]
  /** Entries in the user's home folder and in /run, as listed outside the sandbox. */
  entries: readonly string[]
  /**
   * Unix sockets outside the sandbox that accept connections. File sockets have paths, and abstract
   * sockets have names.
   */
  sockets: readonly string[]
  /** A loopback port outside the sandbox that accepts connections. */
  port: number
  /** Namespace ids outside the sandbox. */
  namespaces: Readonly<Record<string, string>>
}

export const Findings = z.object({
  /** Forbidden actions that were not blocked, by group. */
  network: z.array(z.string()),
  processes: z.array(z.string()),
  writing: z.array(z.string()),
  reading: z.array(z.string()),
  rights: z.array(z.string()),
  /** Whether the program's own folder is writable. */
  own: z.boolean(),
})
export type Findings = z.infer<typeof Findings>

/** Script for `node -e`. The script's single argument is the list of attempts as JSON. */
export const probeScript = String.raw`
const fs = require('fs'), net = require('net')
const { spawnSync } = require('child_process')
const tried = JSON.parse(process.argv[1])
const found = { network: [], processes: [], writing: [], reading: [], rights: [], own: false }
const works = (act) => { try { act(); return true } catch { return false } }
const note = (group, what, act) => { if (works(act)) found[group].push(what) }
const must = (value) => { if (!value) throw new Error('no') }
const ran = (...argv) => must(spawnSync(argv[0], argv.slice(1), { stdio: 'ignore', timeout: 5000 }).status === 0)
const connects = (options) => new Promise((done) => {
  const socket = net.connect({ ...options, timeout: 2000 })
  const end = (answer) => { socket.destroy(); done(answer) }
  socket.on('connect', () => end(true)).on('error', () => end(false)).on('timeout', () => end(false))
})

const status = fs.readFileSync('/proc/self/status', 'utf8')
for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
  if (!new RegExp('^Cap' + set + ':\\s*0+$', 'm').test(status)) found.rights.push('Cap' + set)
if (!/^NoNewPrivs:\s*1$/m.test(status)) found.rights.push('NoNewPrivs')
for (const point of ['/', '/usr', '/etc'])
  note('rights', 'remount ' + point, () => ran('mount', '-o', 'remount,bind,rw', point))
note('rights', 'mount', () => ran('mount', '-t', 'tmpfs', 'tmpfs', '/tmp'))
note('rights', 'a user namespace', () => ran('unshare', '--user', '--map-root-user', 'true'))

for (const name of Object.keys(tried.namespaces)) {
  const own = fs.readlinkSync('/proc/self/ns/' + name)
  if (own === tried.namespaces[name]) found[name === 'net' ? 'network' : 'processes'].push('namespace ' + name)
}

for (const file of tried.files) {
  note('reading', file, () => must(fs.readFileSync(file).length > 0))
  note('writing', file, () => fs.writeFileSync(file, 'written from the sandbox', { flag: 'r+' }))
}
for (const entry of tried.entries) note('reading', entry, () => fs.lstatSync(entry))
for (const place of ['/', '/usr', '/usr/bin', '/etc', '/opt', '/sys/kernel', '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger'])
  note('writing', place, () => fs.accessSync(place, fs.constants.W_OK))
found.own = works(() => fs.writeFileSync('own', 'own'))

const main = async () => {
  if (await connects({ host: '127.0.0.1', port: tried.port })) found.network.push('port ' + tried.port)
  for (const path of tried.sockets)
    if (await connects({ path })) found.reading.push('socket ' + path.replace('\0', '@'))
  fs.writeSync(1, JSON.stringify(found))
  process.exit(0)
}
main()
`
