/** `kernel-ladder serve`: serves the UI on the loopback interface until interrupted. */
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
 * Calls `gone` when the pipe or socket behind stdin closes. A lost ssh connection without a
 * terminal sends no signal, but closes the pipe behind stdin. With a terminal, a lost connection
 * sends SIGHUP. The stdin of a service is /dev/null, which never closes.
 */
function onInputClosed(gone: () => void): void {
  // Node.js replaces a closed stdin with /dev/null, so file descriptor 0 always exists.
  const input = fstatSync(0)
  if (!input.isFIFO() && !input.isSocket()) return
  process.stdin.once('end', gone).once('error', gone).resume()
}

/**
 * Serves the UI. `open` receives the link and returns a cleanup function, which is called after the
 * server ends.
 */
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
    // Register the handler before showing the link, so that the user can stop the server
    // immediately.
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
