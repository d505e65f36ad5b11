/**
 * `kernel-ladder app`: opens the UI in an Electron window. If no window can be opened, opens the
 * browser and explains why.
 */
import { existsSync } from 'node:fs'
import type { SetUp } from '../../../adapters/machine/machine'
import { note } from '../output'
import { abortOnStop } from '../stop-signals'
import { findElectron, hasDisplay, openInBrowser, runWindow } from '../../../adapters/tools/desktop'
import type { WindowTrouble } from '../../../adapters/tools/window-trouble'
import { serveCommand, type ServeOptions } from './serve-command'

/**
 * Opens a window. Returns the desktop program's exit code, or the reason why no window opened.
 */
async function openWindow(setUp: SetUp): Promise<number | WindowTrouble> {
  const { desktopMain: main, appArmorProfile: profile } = (await setUp()).assets
  if (!existsSync(main))
    return {
      reason: 'This copy of the program has no desktop app.',
      remedy: 'The npm package and the checkout contain it.',
    }
  if (process.getuid?.() === 0)
    return {
      reason: 'Electron does not run as root with its sandbox on.',
      remedy: 'Run this command as another user.',
    }
  const electron = findElectron()
  if (electron === null)
    return { reason: 'Electron is not installed.', remedy: 'Install it: npm i -g electron' }
  return runWindow(electron, { main, profile }, abortOnStop('closing the window.'))
}

export async function appCommand(setUp: SetUp, options: ServeOptions): Promise<number> {
  if (!hasDisplay(process.platform, process.env)) {
    note('No display was found, so the UI is served here.')
    return serveCommand(setUp, options)
  }
  // Only the web server supports a port or a session, so don't open a window if a port or a session
  // is given.
  const isServed = options.port !== undefined || options.session !== undefined
  const outcome = isServed ? null : await openWindow(setUp)
  if (typeof outcome === 'number') return outcome
  if (outcome !== null) {
    note(`${outcome.reason} The UI opens in the browser instead of in a window.`)
    note(outcome.remedy)
  }
  return serveCommand(setUp, options, openInBrowser)
}
