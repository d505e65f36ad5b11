/** POST /rpc/<call>: one JSON message in, one Reply out. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Core, dispatch } from '../../contract'
import { HttpFault } from './request-guard'
import { sendReply } from './respond'

export async function answerCall(
  core: Core,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): Promise<void> {
  const input = await readJson(request, maxBodyBytes)
  // 200 for a typed error too: the transport worked, and the client reads the Reply.
  sendReply(response, 200, await dispatch(core, name, input))
}

async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  // Also a lock: a form on another site cannot send this type without asking first (CORS).
  if (
    !/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(
      request.headers['content-type'] ?? '',
    )
  )
    throw new HttpFault(415, 'The content type of a call must be application/json.')
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new HttpFault(415, 'The body of a call must not be compressed.')
  const bytes = await readBody(request, maxBytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new HttpFault(400, 'The body of the call is not JSON in UTF-8.')
  }
}

function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new HttpFault(413, `The body of a call must not exceed ${maxBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        // Not destroyed: the answer still has to go out on the same socket.
        request.pause()
        request.removeAllListeners('data')
        reject(tooLarge)
      } else chunks.push(chunk)
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
    request.on('close', () => reject(new HttpFault(400, 'The call was cut off.')))
  })
}
