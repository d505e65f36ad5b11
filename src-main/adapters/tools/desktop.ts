/**
 * Opens windows on this machine in Electron, or in the user's browser if Electron is not installed.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import openUrl from 'open'
import { runProcess } from './process'
import { windowTrouble, type WindowTrouble } from './window-trouble'

export const hasDisplay = (
  platform: string,
  env: Readonly<Record<string, string | undefined>>,
): boolean => platform !== 'linux' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])

/**
 * Returns the executable of an installed `electron` package. Returns null if the package is missing
 * or its binary was not downloaded.
 */
function ofPackage(from: string): string | null {
  try {
    const folder = dirname(createRequire(join(from, 'x.js')).resolve('electron/package.json'))
    const file = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8'))
    return existsSync(file) ? file : null
  } catch {
    return null
  }
}

/**
 * Returns Electron's path. Searches next to this program, in the current project, and in PATH.
 * Returns null if Electron is missing.
 */
export function findElectron(): string | null {
  const name = process.platform === 'win32' ? 'electron.cmd' : 'electron'
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))
  return ofPackage(import.meta.dirname) ?? ofPackage(process.cwd()) ?? onPath ?? null
}

/** Whether the system restricts user namespaces, as Ubuntu has done since 23.10. */
const restrictsNamespaces = (): boolean => {
  try {
    const path = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns'
    return readFileSync(path, 'utf8').trim() === '1'
  } catch {
    return false
  }
}

/**
 * Runs the desktop program until its window is closed.
 * @param main the program's entry point
 * @param profile path of the AppArmor profile to recommend if needed
 * @returns the program's exit code, or the reason why no window opened
 */
export async function runWindow(
  electron: string,
  { main, profile }: { main: string; profile: string },
  signal: AbortSignal,
): Promise<number | WindowTrouble> {
  const { outcome, exitCode, seconds, stderr } = await runProcess({
    file: electron,
    args: [main],
    // Pass the user's language to Electron. Other programs run with a fixed language, because their
    // output is parsed.
    env: { LC_ALL: process.env['LC_ALL'] ?? '', ELECTRON_RUN_AS_NODE: '' },
    passOn: { to: (stream, text) => void process[stream].write(text), keep: 16 * 1024 },
    signal,
  })
  if (outcome === 'not-found')
    return { reason: `${electron} could not be started.`, remedy: 'Install Electron again.' }
  const restricted = { profile, restrictsNamespaces: restrictsNamespaces() }
  return windowTrouble({ exitCode, seconds, stderr }, restricted) ?? exitCode ?? 1
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/**
 * Opens a one-time link in the user's browser. Other users can see a program's arguments, so the
 * browser opens a private page that redirects to the link. Returns a function that removes the
 * page.
 */
export async function openInBrowser(url: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'kernel-ladder-link-'))
  const page = join(folder, 'open.html')
  const to = escaped(url)
  await writeFile(
    page,
    `<!doctype html><meta charset="utf-8"><title>Kernel Ladder</title><meta http-equiv="refresh" content="0;url=${to}"><a href="${to}">Kernel Ladder</a>\n`,
    { mode: 0o600 },
  )
  const opener = await openUrl(page)
  // Ignore a missing browser, because the link was also printed.
  opener.on('error', () => undefined)
  return () => rm(folder, { recursive: true, force: true })
}
