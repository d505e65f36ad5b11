/** Handles GET /events, which sends the core's messages as server-sent events. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Core } from '../../contract/index'

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
        // Close the socket together with the stream, so that closing the server does not wait for
        // the socket.
        Connection: 'close',
      })
      if (request.method === 'HEAD') {
        response.end()
        return
      }
      const write = (chunk: string): void => {
        response.write(chunk)
        // Disconnect a client that stops reading, because unsent messages would fill the server's
        // memory. The client then reconnects and calls `run.current`.
        if (response.writableLength > maxBacklogBytes) response.destroy()
      }
      // Send a comment immediately, so that the client knows before the first event that the stream
      // is open.
      write(': open\n\n')
      // JSON never contains a raw line break, so one message fits on one data line.
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
