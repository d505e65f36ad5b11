/** Transports to a running core over HTTP and over the desktop program's Electron bridge. */
import { z } from 'zod'
import type { CallName, Reply } from '../../src-main/contract/index'
import { ErrorShape } from '../../src-main/domain/errors'
import { postCall, send, takeAhead, type RawAnswer } from '../ahead'
import { LineError, type Listener, type Transport } from './client'

const ReplyShape = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({ ok: z.literal(false), error: ErrorShape }),
])

const post = (name: CallName, input: unknown, signal: AbortSignal): Promise<Reply<unknown>> =>
  replyTo(name, takeAhead(name, input) ?? postCall(name, input, signal))

/** Uploads a file. The browser streams the file from disk, so its size does not matter. */
function upload(file: File, signal: AbortSignal): Promise<Reply<unknown>> {
  const query = new URLSearchParams({ name: file.name, modified: String(file.lastModified) })
  return replyTo('import', send(`/import?${query}`, 'application/octet-stream', file, signal))
}

async function replyTo(name: string, answer: Promise<RawAnswer>): Promise<Reply<unknown>> {
  let given: RawAnswer
  try {
    given = await answer
  } catch (cause) {
    throw new LineError('unreachable', name, { cause })
  }
  // If the status is not 200, the body still contains the server's error message.
  const reply = ReplyShape.safeParse(given.body)
  if (reply.success) return reply.data
  const fault = given.status === 401 ? 'unauthorized' : 'malformed'
  throw new LineError(fault, name, { cause: reply.error })
}

const retryMs = 2000

/**
 * Subscribes to server events. EventSource never retries after an HTTP error, so this function
 * reopens a closed connection.
 */
function listen(listener: Listener): () => void {
  let source: EventSource
  let timer: ReturnType<typeof setTimeout> | undefined
  let down = false
  const open = () => {
    source = new EventSource('/events')
    source.onopen = () => {
      if (down) listener.reconnected()
      down = false
    }
    source.onmessage = ({ data }) => {
      try {
        listener.message(JSON.parse(String(data)))
      } catch {
        listener.message(undefined)
      }
    }
    source.onerror = () => {
      if (!down) listener.lost()
      down = true
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, retryMs)
    }
  }
  open()
  return () => {
    clearTimeout(timer)
    source.close()
  }
}

export const webTransport = (): Transport => ({
  kind: 'web',
  call: post,
  importFile: upload,
  subscribe: listen,
})

export const electronTransport = (bridge: NonNullable<Window['kernelLadder']>): Transport => ({
  kind: 'electron',
  call: (name, input) => bridge.call(name, input),
  importFile: (file) => bridge.importFile(file),
  chooseFolder: () => bridge.chooseFolder(),
  subscribe: (listener) => bridge.subscribe((message) => listener.message(message)),
})
