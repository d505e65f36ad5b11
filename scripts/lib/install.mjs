// @ts-check
/** Installs dependencies that are missing or older than package-lock.json. */
import { mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { root, say, PlainError, npmCommand } from './project.mjs'
import { runChild } from './child.mjs'
import { withLock } from './lock.mjs'

const stampName = 'node_modules/.kernel-ladder-lock'

/** @param {string} folder */
const lockHash = (folder) =>
  createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')

/**
 * Returns whether the installed packages match the lock file. Packages for other platforms are
 * ignored.
 * @param {Record<string, any>} wanted `packages` of package-lock.json
 * @param {Record<string, any>} installed `packages` of node_modules/.package-lock.json
 */
export const isSatisfied = (wanted, installed) =>
  Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true
    const found = installed[path]
    return found === undefined ? entry.optional === true : found.version === entry.version
  })

/**
 * @param {string} [folder]
 */
export function isInstalled(folder = root) {
  const stamp = join(folder, stampName)
  const hash = lockHash(folder)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return true
  // npm writes its own lock file to node_modules when it finishes, so a manual `npm install` is
  // detected too.
  const account = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(account)) return false
  /** @param {string} path */
  const packages = (path) => JSON.parse(readFileSync(path, 'utf8')).packages
  if (!isSatisfied(packages(join(folder, 'package-lock.json')), packages(account))) return false
  writeFileSync(stamp, hash)
  return true
}

const unreachable =
  /E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH|SOCKETTIMEOUT|PROTO)|ERR_SOCKET_TIMEOUT|network/

/**
 * @param {string} output what npm printed
 */
export const explainFailure = (output) => {
  const lines = output
    .trim()
    .split('\n')
    .filter((line) => !/^npm error( +at .*)?$/.test(line))
    .slice(0, 12)
    .join('\n')
  const reason = unreachable.test(output)
    ? 'npm cannot reach its registry, so the dependencies could not be installed. Check the network and the "registry" and "proxy" settings of npm, then run this again.'
    : 'The dependencies could not be installed.'
  return lines === '' ? reason : `${reason}\nnpm said:\n${lines}`
}

export async function ensureInstalled() {
  if (isInstalled()) return
  await withLock('install', async () => {
    if (isInstalled()) return
    say('Installing dependencies (once)…')
    const npm = npmCommand()
    const args = ['ci', '--loglevel=error', '--no-audit', '--no-fund', '--include=dev']
    const { code, output } = await runChild(
      npm.file,
      // The lock file contains a hash of each package, so npm need not check whether its cached
      // copy is current.
      [...npm.args, ...args, '--include=optional', '--prefer-offline'],
      {
        output: 'kept',
        shell: npm.shell,
      },
    )
    if (code !== 0) throw new PlainError(explainFailure(output), 3)
    mkdirSync(join(root, 'node_modules'), { recursive: true })
    writeFileSync(join(root, stampName), lockHash(root))
  })
}
