/**
 * Handles POST /rpc/<call>. The request body is one JSON message, and the response is one Reply.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Core, dispatch } from '../../contract/index'
import { HttpFault } from './request-guard'
import { sendReply } from './respond'

interface CallLimits {
  maxBodyBytes: number
  /** Maximum time in milliseconds for receiving the whole call. */
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
  // Respond with 200 even if the Reply is an error. The transport worked, and the client reads the
  // error from the Reply.
  sendReply(response, 200, await dispatch(core, name, input))
}

async function readJson(request: IncomingMessage, limits: CallLimits): Promise<unknown> {
  // The content type check also blocks forms on other sites. Browsers send this content type to
  // another site only after a CORS preflight.
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
    // Don't destroy the request, because the response uses the same socket.
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
