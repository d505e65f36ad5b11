/** `kernel-ladder app`: opens the UI in an Electron window if installed, else in the browser. */
import { existsSync } from 'node:fs'
import type { SetUp } from '../../../adapters/machine/machine'
import { note } from '../output'
import { abortOnStop } from '../stop-signals'
import { findElectron, hasDisplay, openInBrowser, runWindow } from '../../../adapters/tools/desktop'
import { serveCommand, type ServeOptions } from './serve-command'

/** The exit code of the window's program, or the reason why there was no window. */
async function openWindow(setUp: SetUp): Promise<number | string> {
  const { desktopMain } = (await setUp()).assets
  if (!existsSync(desktopMain)) return 'This copy of the program has no desktop app.'
  if (process.getuid?.() === 0) return 'Electron does not run as root with its sandbox on.'
  const electron = findElectron()
  if (electron === null) return 'Electron is not installed: `npm i -g electron`.'
  const code = await runWindow(electron, desktopMain, abortOnStop('closing the window.'))
  return code ?? `${electron} could not open a window.`
}

export async function appCommand(setUp: SetUp, options: ServeOptions): Promise<number> {
  if (!hasDisplay(process.platform, process.env)) {
    note('No display was found, so the UI is served here.')
    return serveCommand(setUp, options)
  }
  // A port and a session are asked of the server.
  const isServed = options.port !== undefined || options.session !== undefined
  const outcome = isServed ? null : await openWindow(setUp)
  if (typeof outcome === 'number') return outcome
  if (outcome !== null) note(`${outcome} The UI opens in the browser.`)
  return serveCommand(setUp, options, openInBrowser)
}
