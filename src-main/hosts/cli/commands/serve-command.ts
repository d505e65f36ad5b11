/** `kernel-ladder serve` and `app`: the UI in the browser, or in a window of its own. */
import { fstatSync, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { SetUp } from '../../../adapters/machine/machine'
import { readSession } from '../../../adapters/sessions/session-store'
import { createCore } from '../../../services/core'
import { startWebHost } from '../../web/server'
import { wholeNumber } from '../arguments'
import { note, printText } from '../output'
import { onStop, abortOnStop } from '../terminal'
import { findElectron, hasDisplay, openInBrowser, runWindow } from '../../../adapters/tools/desktop'

// `kernel-ladder serve`: serves the UI on loopback until interrupted.

export interface ServeOptions {
  port?: string
  session?: string
}

/**
 * Without a terminal, a dropped ssh connection sends no signal, but the pipe that it made of stdin ends. A terminal
 * sends SIGHUP, and /dev/null, as of a service, says nothing.
 */
function onInputClosed(gone: () => void): void {
  // Node.js opens /dev/null in place of a stdin that was closed, so there always is one.
  const input = fstatSync(0)
  if (!input.isFIFO() && !input.isSocket()) return
  process.stdin.once('end', gone).once('error', gone).resume()
}

/** `open` gets the link, and returns what is to be done when the server ends. */
export async function serveCommand(
  setUp: SetUp,
  options: ServeOptions,
  open: (url: string) => Promise<() => Promise<void>> = () =>
    Promise.resolve(() => Promise.resolve()),
): Promise<number> {
  const port = options.port === undefined ? 0 : wholeNumber(options.port, '--port', 65_535, 0)
  const session = options.session === undefined ? undefined : resolve(options.session)
  if (session !== undefined) await readSession(session)
  const setup = await setUp()
  const core = createCore(setup, { host: 'web', ...(session === undefined ? {} : { session }) })
  try {
    const { rendererDir } = setup.assets
    const host = await startWebHost({ core, rendererDir, port, log: note })
    // Before the link is there to be used, so that whoever reads it can stop the server at once.
    const stopping = new Promise<void>((stopped) => {
      onStop(
        () => {
          stopped()
        },
        () => process.exit(0),
      )
      onInputClosed(() => {
        note('The connection that started this server was closed.')
        stopped()
      })
    })
    printText(`Kernel Ladder is at ${host.url}`)
    const opened = await open(host.url)
    note('The link works once, from this machine. Press Ctrl+C to stop.')
    await stopping
    process.stdin.destroy()
    await host.close()
    await opened()
    return 0
  } finally {
    await core.close()
  }
}

// `kernel-ladder app`: the UI in a window of its own where Electron is installed, else in the browser.

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
