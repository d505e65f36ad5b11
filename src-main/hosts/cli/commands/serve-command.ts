/** `kernel-ladder serve`: serves the UI on loopback until interrupted. */
import { fstatSync } from 'node:fs'
import { resolve } from 'node:path'
import type { SetUp } from '../../../adapters/machine/machine'
import { readSession } from '../../../adapters/sessions/session-store'
import { createCore } from '../../../services/app/core'
import { startWebHost } from '../../web/server'
import { note, printText } from '../output'
import { onStop } from '../stop-signals'
import { wholeNumber } from '../option-values'

export interface ServeOptions {
  port?: string
  session?: string
}

/**
 * Calls `gone` when the pipe or socket of stdin closes. Without a terminal, a dropped ssh connection sends no signal,
 * but closes that pipe. A terminal sends SIGHUP, and /dev/null, as for a service, sends nothing.
 */
function onInputClosed(gone: () => void): void {
  // Node.js replaces a closed stdin with /dev/null, so there always is one.
  const input = fstatSync(0)
  if (!input.isFIFO() && !input.isSocket()) return
  process.stdin.once('end', gone).once('error', gone).resume()
}

/** Serves the UI. `open` gets the link and returns the cleanup for when the server ends. */
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
    // Registered before the link is shown, so that its reader can stop the server at once.
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
