/**
 * Serves the Model Context Protocol over stdio. Coding agents use the server to query kernel
 * measurements.
 *
 * The user who starts the server decides which folders are accessible, and whether code may run on
 * the GPU.
 */
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Setup } from '../../adapters/machine/machine'
import { inputError } from '../../domain/errors'
import { appVersion } from '../../services/version'
import { rungFacts } from './facts'
import { addTools, type Workplace } from './tool'
import { addReadTools, opened } from './read-tools'
import { addWorkTools } from './work-tools'
import { listAll } from '../../services/sessions/list-sessions'
import { fenceOf } from './fence'

const instructions =
  'Explains why CUDA kernels are slow, based on hardware counters from Nsight Compute. ' +
  'For a .ncu-rep, call `import`, then `why` for a kernel. For two sessions, call `compare`. ' +
  '`source` ranks lines by a counter, `machine_code` shows the SASS of a line. ' +
  'Every list has `from` and `next`. Errors include a remedy.'

const scheme = 'kernel-ladder://sessions/'

/**
 * Adds sessions and recordings as resources. Each resource is a JSON document with the figures of a
 * session's rungs.
 */
function addResources(server: McpServer, place: Workplace): void {
  const template = new ResourceTemplate(`${scheme}{session}`, {
    list: async () => ({
      resources: (await listAll(place.setup)).map((one) => ({
        uri: `${scheme}${encodeURIComponent(one.ref)}`,
        name: one.ref,
        description: `${one.ladder.title}, ${one.rungCount} rungs, ${one.deviceName ?? 'no GPU'}`,
        mimeType: 'application/json',
      })),
    }),
  })
  server.registerResource(
    'session',
    template,
    { title: 'Sessions and recordings', mimeType: 'application/json' },
    async (uri, variables) => {
      const name = decodeURIComponent(String(variables['session']))
      const { session } = await opened(place, name)
      const facts = {
        session: name,
        ladder: session.ladder.title,
        gpu: session.device?.name ?? null,
        made: session.createdAt,
        problem: session.problem,
        rungs: session.rungs.map((rung) => ({
          ...rungFacts(session, rung),
          metrics: Object.fromEntries(
            Object.entries(rung.metrics).map(([id, { value, unit }]) => [id, { value, unit }]),
          ),
        })),
      }
      return {
        contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(facts) }],
      }
    },
  )
}

interface McpOptions {
  folders: readonly string[]
  allowRun: boolean
  log: (line: string) => void
}

/** Serves until the client closes stdin or `stop` is aborted. Work in progress is then canceled. */
export async function serveMcp(
  setup: Setup,
  { folders, allowRun, log }: McpOptions,
  stop: AbortSignal,
): Promise<void> {
  const fence = await fenceOf(folders)
  const gone = new AbortController()
  const place: Workplace = { setup, fence, allowRun, gone: gone.signal }
  let ends = (): void => undefined
  let flooded = false
  const handle = serveStdio(
    () => {
      const server = new McpServer({ name: 'kernel-ladder', version: appVersion }, { instructions })
      const add = addTools(server, place)
      addReadTools(add, place)
      addWorkTools(add, place)
      addResources(server, place)
      return server
    },
    {
      onerror(error) {
        // After this error, the transport closes without another notification.
        flooded ||= tooLong.test(error.message)
        if (flooded) ends()
        else log(`mcp: ${error.message}`)
      },
    },
  )
  await new Promise<void>((ended) => {
    const end = (ends = (): void => ended())
    process.stdin.once('end', end).once('close', end).once('error', end)
    stop.addEventListener('abort', end, { once: true })
  })
  gone.abort()
  await handle.close()
  process.stdin.destroy()
  if (flooded)
    throw inputError(
      'The client sent a line of more than 10 MiB.',
      'Give a file by its path instead of its content.',
    )
}

/** Matches the transport's error message for a line that is too long. */
const tooLong = /exceeded maximum size/
