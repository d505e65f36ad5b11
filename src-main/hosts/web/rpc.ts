/** Calls, events and files between the page and the core: POST /rpc/<call>, GET /events, and POST /import. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type FileHandle, mkdtemp, open, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Core, dispatch, type Reply } from '../../contract/index'
import { HttpFault } from './request-guard'
import { sendReply } from './respond'
import type { ImportAnswer } from '../../contract/sessions'
import { KernelLadderError, toErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'

// Calls and events between the page and the core: POST /rpc/<call>, and GET /events.

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

// POST /import?name=…&modified=…: a file from the reader's browser, as bare bytes, through a private
// temporary file to the core. The answer is a Reply, as to a call.

export interface UploadLimits {
  maxUploadBytes: number
  /** An upload that sends nothing for this long is given up. */
  uploadIdleMs: number
}

export async function answerUpload(
  core: Core,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
  limits: UploadLimits,
): Promise<void> {
  sendReply(response, 200, await importUpload(core, query, request, limits))
}

async function importUpload(
  core: Core,
  query: URLSearchParams,
  request: IncomingMessage,
  limits: UploadLimits,
): Promise<Reply<ImportAnswer>> {
  const name = fileName(query.get('name'))
  // Also a lock: a form on another site cannot send this type without asking first (CORS).
  if (request.headers['content-type'] !== 'application/octet-stream')
    throw new HttpFault(415, 'A file must be sent as application/octet-stream.')
  // Readable by this user alone, and gone with the answer.
  const folder = await mkdtemp(join(tmpdir(), 'kernel-ladder-upload-'))
  try {
    const path = join(folder, name)
    await receive(request, path, limits)
    const modified = new Date(Number(query.get('modified') ?? Number.NaN))
    // A CSV does not say when it was made; its file does.
    if (!Number.isNaN(modified.getTime())) await utimes(path, modified, modified)
    return { ok: true, value: await core.importFile(path) }
  } catch (error) {
    if (error instanceof HttpFault) throw error
    return { ok: false, error: toErrorShape(error) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The name becomes a file's: nothing of it may lead anywhere else. */
function fileName(sent: string | null): string {
  const name = (sent ?? '')
    .replaceAll(/[\p{Cc}/\\:]/gu, '-')
    .replace(/^\.+/, '')
    .trim()
  if (!name) throw new HttpFault(400, 'The file has no name.')
  // File systems count bytes, 255 of them; the ending says what it is and stays.
  const bytes = Buffer.from(name)
  return bytes.length <= 200 ? name : `${bytes.subarray(0, 150).toString()}…${name.slice(-12)}`
}

async function receive(
  request: IncomingMessage,
  path: string,
  { maxUploadBytes, uploadIdleMs }: UploadLimits,
): Promise<void> {
  const tooLarge = new HttpFault(413, `The file is larger than ${maxUploadBytes / 2 ** 20} MiB.`, {
    remedy: 'Import it on the command line: kernel-ladder import FILE',
  })
  if (Number(request.headers['content-length'] ?? 0) > maxUploadBytes) throw tooLarge
  const file = await open(path, 'wx', 0o600)
  const idle = setTimeout(() => {
    request.destroy(new HttpFault(408, 'The file stopped arriving.'))
  }, uploadIdleMs)
  try {
    let size = 0
    // Not destroyed at the end: a refusal still has to go out on the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      idle.refresh()
      size += (chunk as Buffer).length
      if (size > maxUploadBytes) throw tooLarge
      await write(file, chunk as Buffer)
    }
    if (!request.complete) throw new HttpFault(400, 'The file was truncated.')
  } catch (error) {
    if (error instanceof HttpFault || error instanceof KernelLadderError) throw error
    throw new HttpFault(400, 'The file was truncated.')
  } finally {
    clearTimeout(idle)
    await file.close()
  }
}

async function write(file: FileHandle, chunk: Buffer): Promise<void> {
  try {
    await file.writeFile(chunk)
  } catch (error) {
    const full = error instanceof Error && 'code' in error && error.code === 'ENOSPC'
    throw new KernelLadderError(
      'failed',
      full
        ? message('imports.noSpace', { folder: tmpdir() })
        : message('imports.notKept', { folder: tmpdir(), text: String(error) }),
      message('imports.useCommand'),
    )
  }
}
