// @ts-check
/** Finds Electron for the desktop program, or installs it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from './child.mjs'
import { toolEnv, say, root } from './project.mjs'

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
