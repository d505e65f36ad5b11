/** Calls and events between the page and the core: POST /rpc/<call>, and GET /events. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Core, dispatch } from '../../contract/index'
import { HttpFault } from './request-guard'
import { sendReply } from './respond'

// POST /rpc/<call>: one JSON message in, one Reply out.

export interface CallLimits {
  maxBodyBytes: number
  /** For the whole call to arrive. */
  requestTimeoutMs: number
}

export async function answerCall(
  core: Core,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
  limits: CallLimits,
): Promise<void> {
  const input = await readJson(request, limits)
  // 200 for a typed error too: the transport worked, and the client reads the Reply.
  sendReply(response, 200, await dispatch(core, name, input))
}

async function readJson(request: IncomingMessage, limits: CallLimits): Promise<unknown> {
  // Also a lock: a form on another site cannot send this type without asking first (CORS).
  if (
    !/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(
      request.headers['content-type'] ?? '',
    )
  )
    throw new HttpFault(415, 'The content type of a call must be application/json.')
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new HttpFault(415, 'The body of a call must not be compressed.')
  const bytes = await readBody(request, limits)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new HttpFault(400, 'The body of the call is not JSON in UTF-8.')
  }
}

function readBody(
  request: IncomingMessage,
  { maxBodyBytes, requestTimeoutMs }: CallLimits,
): Promise<Buffer> {
  const tooLarge = new HttpFault(413, `The body of a call must not exceed ${maxBodyBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(tooLarge)
  return new Promise<Buffer>((resolve, reject) => {
    const late = setTimeout(() => {
      stop()
      reject(new HttpFault(408, 'The call did not arrive in time.'))
    }, requestTimeoutMs)
    // Not destroyed: the answer still has to go out on the same socket.
    const stop = (): void => {
      clearTimeout(late)
      request.pause()
      request.removeAllListeners('data')
    }
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBodyBytes) {
        stop()
        reject(tooLarge)
      } else chunks.push(chunk)
    })
    request.on('end', () => {
      clearTimeout(late)
      resolve(Buffer.concat(chunks))
    })
    request.on('error', reject)
    request.on('close', () => {
      clearTimeout(late)
      reject(new HttpFault(400, 'The call was truncated.'))
    })
  })
}

// GET /events: what the core reports, as server-sent events.

export interface EventStreams {
  open(request: IncomingMessage, response: ServerResponse): void
  closeAll(): void
}

export function createEventStreams(
  core: Core,
  { heartbeatMs, maxBacklogBytes }: { heartbeatMs: number; maxBacklogBytes: number },
): EventStreams {
  const open = new Set<ServerResponse>()
  return {
    open(request, response) {
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        // The socket ends with the stream, so that closing the server does not wait for it.
        Connection: 'close',
      })
      if (request.method === 'HEAD') {
        response.end()
        return
      }
      const write = (chunk: string): void => {
        response.write(chunk)
        // A reader that stalls must not fill our memory: it is cut off, reconnects and asks for
        // `run.current`.
        if (response.writableLength > maxBacklogBytes) response.destroy()
      }
      // Statement at once, so that the client knows the stream is open before the first event.
      write(': open\n\n')
      // JSON never holds a raw line break, so that one message is one data line.
      const unsubscribe = core.subscribe((message) => write(`data: ${JSON.stringify(message)}\n\n`))
      const heartbeat = setInterval(() => write(': alive\n\n'), heartbeatMs)
      open.add(response)
      response.on('close', () => {
        clearInterval(heartbeat)
        unsubscribe()
        open.delete(response)
      })
    },
    closeAll() {
      for (const response of open) response.end()
    },
  }
}
