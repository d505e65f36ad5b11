// @ts-check
/**
 * Finds Chromium or Chrome for the browser tests, or installs it.
 *
 * The headless shell is preferred. The shell has the same engine but no window, and opens pages in
 * about half the time.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, join } from 'node:path'
import { runChild } from './child.mjs'
import { ensureInstalled } from './install.mjs'
import { toolEnv, PlainError, say } from './project.mjs'
import { isRoot, isDebianRoot, installFromDistribution } from './distribution-packages.mjs'

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

/**
 * Returns the browser that playwright-core installs. Playwright's browser is the last candidate,
 * because loading playwright-core is slow.
 */
function ownOfPlaywright() {
  try {
    return createRequire(import.meta.url)('playwright-core').chromium.executablePath()
  } catch {
    return undefined
  }
}

/**
 * Yields executables in order of preference. Throws an error if the user named a file that is not
 * executable.
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
 * Returns whether an executable is a working browser. Some distributions have a stub that only
 * prints how to install a browser.
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

/** The headless shell needs a font, and servers may have none. */
const shellPackages = [shell, 'fonts-liberation']

/**
 * @param {readonly string[]} [others] other packages to install in the same apt-get call, because
 * each call takes seconds
 */
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
