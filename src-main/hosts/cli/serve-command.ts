/** `kernel-ladder serve`: the UI on loopback until it is interrupted. */
import { resolve } from 'node:path'
import { assets } from '../../adapters/assets'
import { readSession } from '../../adapters/session-store'
import { inputError } from '../../domain/errors'
import { createCore } from '../../services/core'
import { startWebHost } from '../web/server'
import { wholeNumber } from './arguments'
import { note, printText } from './output'

export interface ServeOptions {
  port?: string
  session?: string
}

export async function serveCommand(options: ServeOptions): Promise<number> {
  const port = options.port === undefined ? 0 : wholeNumber(options.port, '--port', 65_535)
  const session = options.session === undefined ? undefined : resolve(options.session)
  if (session !== undefined) await readSession(session)
  const core = await createCore({ host: 'web', ...(session === undefined ? {} : { session }) })
  const host = await startWebHost({
    core,
    rendererDir: (await assets()).rendererDir,
    port,
    log: note,
  }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      throw inputError(
        `Port ${port} is taken.`,
        'Choose another with --port, or leave it out for a free one.',
      )
    throw error
  })
  printText(`Kernel Ladder is at ${host.url}`)
  note('The link works once, from this machine. Press ^C to stop.')
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => done())
  })
  await host.close()
  await core.close()
  return 0
}
