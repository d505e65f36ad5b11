// @ts-check
/** Programs that tests and the desktop program need, found or installed: Chromium, Electron, an sshd and Slurm. */
import { accessSync, constants, existsSync, statSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, join } from 'node:path'
import { runChild } from './child.mjs'
import { ensureInstalled } from './install.mjs'
import { toolEnv, PlainError, say, root } from './project.mjs'

// Finds a Chromium or Chrome for the browser tests, or installs one. Best is the headless shell: the same
// engine without a window, whose pages open in about half the time.

const variables = ['KERNEL_LADDER_CHROMIUM', 'CHROME_PATH', 'CHROMIUM_PATH']
const shell = 'chromium-headless-shell'
const names = [
  shell,
  ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'],
]

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} platform
 */
function usualPlaces(env, platform) {
  if (platform === 'darwin')
    return ['/Applications', join(env['HOME'] ?? '', 'Applications')].flatMap((folder) =>
      ['Google Chrome', 'Chromium'].map((name) =>
        join(folder, `${name}.app/Contents/MacOS/${name}`),
      ),
    )
  if (platform !== 'win32') return ['/opt/google/chrome/chrome', '/snap/bin/chromium']
  return [env['PROGRAMFILES'], env['PROGRAMFILES(X86)'], env['LOCALAPPDATA']]
    .filter((folder) => folder !== undefined)
    .flatMap((folder) =>
      ['Google/Chrome', 'Chromium'].map((name) => join(folder, name, 'Application/chrome.exe')),
    )
}

/** The browser that playwright-core installs; tried last, because loading playwright-core takes a while. */
function ownOfPlaywright() {
  try {
    return createRequire(import.meta.url)('playwright-core').chromium.executablePath()
  } catch {
    return undefined
  }
}

/**
 * Executables in order of preference. One that the user named is never skipped silently.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} platform
 * @param {() => string | undefined} playwright
 * @returns {Generator<string>}
 */
export function* chromiumCandidates(env, platform, playwright = ownOfPlaywright) {
  for (const variable of variables) {
    const path = env[variable]
    if (!path) continue
    if (!isExecutable(path))
      throw new PlainError(`${variable} is "${path}", which is not an executable file.`)
    yield path
  }
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? ''
  const suffix = platform === 'win32' ? '.exe' : ''
  for (const name of names)
    for (const folder of path.split(delimiter).filter(Boolean)) {
      const file = join(folder, name + suffix)
      if (isExecutable(file)) yield file
    }
  for (const file of usualPlaces(env, platform)) if (isExecutable(file)) yield file
  const own = playwright()
  if (own !== undefined && isExecutable(own)) yield own
}

/**
 * Some distributions have an executable stub that only says how to install a browser.
 * @param {string} path
 */
async function answers(path) {
  if (process.platform === 'win32') return true
  const { code } = await runChild(path, ['--version'], { output: 'kept', timeoutMs: 30_000 })
  return code === 0
}

/** @returns {Promise<string | undefined>} */
export async function findChromium() {
  for (const path of chromiumCandidates(process.env, process.platform))
    if (await answers(path)) return path
  return undefined
}

/** It needs a font, which a server may not have. */
const shellPackages = [shell, 'fonts-liberation']

const isCi = () => process.env['CI'] === 'true'

const isRoot = () => process.getuid?.() === 0

const isDebianRoot = () => isRoot() && existsSync('/etc/debian_version')

/**
 * @param {readonly string[]} packages
 * @returns {Promise<string | undefined>} what failed
 */
async function installFromDistribution(packages) {
  say(`Installing ${packages.join(', ')} with apt-get…`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // An index of manual pages takes a fifth of the time, and nobody reads them on a machine of CI.
  const brief = isCi() ? ['-o', 'Dpkg::Options::=--path-exclude=/usr/share/man/*'] : []
  const install = [...brief, 'install', '-y', '--no-install-recommends', ...packages]
  for (const args of [['update'], install]) {
    const told = await runChild('apt-get', ['-q', ...args], {
      output: 'kept',
      env,
      timeoutMs: 180_000,
    })
    if (told.code !== 0) return `apt-get ${args[0]} ended with ${told.code}`
  }
  return undefined
}

/** @param {readonly string[]} [others] packages to install along with it, as each call of apt-get takes seconds */
export async function obtainChromium(others = []) {
  const found = await findChromium()
  const named = variables.some((variable) => process.env[variable])
  if (found !== undefined && (named || basename(found) === shell)) return found
  if (isDebianRoot()) {
    const failed = await installFromDistribution([...shellPackages, ...others])
    if (failed !== undefined && others.length > 0) await installFromDistribution(shellPackages)
    const installed = await findChromium()
    if (installed !== undefined) return installed
  }
  if (found !== undefined) return found
  await ensureInstalled()
  say('No Chromium found. Downloading one with playwright-core…')
  const args = ['node_modules/playwright-core/cli.js', 'install', 'chromium']
  const withLibraries = isRoot() && process.platform === 'linux' ? ['--with-deps'] : []
  const { output } = await runChild(process.execPath, [...args, ...withLibraries], {
    output: 'kept',
    env: toolEnv(),
  })
  const fetched = await findChromium()
  if (fetched !== undefined) return fetched
  const lines = output.trim().split('\n').slice(-5).join('\n')
  throw new PlainError(
    `The browser tests need Chromium or Chrome: none was found, and none could be installed. Install one, or set CHROME_PATH to its executable, then run this again.\nOutput of the last attempt:\n${lines}`,
  )
}

const instead = 'so the UI is served here instead of in a window.'

/**
 * @typedef {object} Circumstances
 * @property {string} platform
 * @property {NodeJS.ProcessEnv} env
 * @property {number} [uid]
 * @property {readonly string[]} args
 * @property {'unknown' | 'ready' | 'missing' | 'broken'} electron
 */

/**
 * Why there will be no window; undefined if there can be one.
 * @param {Circumstances} now
 * @returns {string | undefined}
 */
export function whyServe(now) {
  if (now.args.some((arg) => /^(-p|--port)(=|$)/.test(arg))) return `A port was given, ${instead}`
  if (now.platform === 'linux') {
    if (!now.env['DISPLAY'] && !now.env['WAYLAND_DISPLAY'])
      return `No display was found, ${instead}`
    if (now.uid === 0) return `Electron does not run as root with its sandbox on, ${instead}`
  }
  if (now.electron === 'missing') return `Electron could not be downloaded, ${instead}`
  if (now.electron === 'broken') return `Electron could not start on this machine, ${instead}`
  return undefined
}

/**
 * Whether the app failed before it opened a window, rather than later: a system library is missing, or
 * Chromium failed because of its sandbox or the display.
 * @param {{ code: number, seconds: number }} ended
 */
export const neverStarted = ({ code, seconds }) =>
  seconds < 10 && [126, 127, 132, 133, 134].includes(code)

/**
 * @param {string} folder of the package `electron`
 * @returns {string | undefined} the executable, if it has been downloaded
 */
export function electronPath(folder) {
  try {
    const name = readFileSync(join(folder, 'path.txt'), 'utf8')
    const file = join(process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(folder, 'dist'), name)
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

/** The npm package does not include the executable: it is downloaded from a server that may be unreachable. */
export async function obtainElectron() {
  const folder = join(root, 'node_modules/electron')
  const present = electronPath(folder)
  if (present !== undefined) return present
  say('Downloading Electron (once)…')
  const { code } = await runChild(process.execPath, [join(folder, 'install.js')], {
    output: 'kept',
    env: toolEnv(),
    timeoutMs: 60_000,
  })
  return code === 0 ? electronPath(folder) : undefined
}

// Servers for the tests of other machines, which are skipped by name without them: an sshd, and Slurm with munge.

/** A file of each package, by the package. */
const servers = {
  'openssh-server': '/usr/sbin/sshd',
  munge: '/usr/sbin/munged',
  slurmctld: '/usr/sbin/slurmctld',
  slurmd: '/usr/sbin/slurmd',
  'slurm-client': '/usr/bin/sbatch',
}

/** Packages of servers to install: in CI alone, as elsewhere a test must not add a server to the machine. */
export const missingServers = () =>
  isCi() && isDebianRoot()
    ? Object.entries(servers).flatMap(([name, file]) => (existsSync(file) ? [] : [name]))
    : []

export async function obtainServers() {
  const missing = missingServers()
  if (missing.length === 0) return
  const failed = await installFromDistribution(missing)
  if (failed !== undefined) say(`${failed}: tests that need these servers are skipped.`)
}
