/**
 * Serves the UI on the loopback interface, for machines without a display. Implements
 * `kernel-ladder serve`.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Core } from '../../contract'
import { maxUploadBytes } from '../../contract/sessions'
import { inputError } from '../../domain/errors'
import { pathSegments, RendererFiles } from '../shared/renderer-files'
import {
  checkFetchMetadata,
  checkHost,
  checkOrigin,
  HttpFault,
  isForeignNavigation,
  isPrefetch,
} from './request-guard'
import { answerCall } from './calls'
import { sendEntry, sendEntryRefused, sendFault } from './respond'
import { securityHeaders } from '../shared/response-headers'
import { Auth } from './auth'
import { limitConnections, type Connections } from './connection-limit'
import { createStaticFiles, type StaticFiles } from './static-files'
import { createEventStreams, type EventStreams } from './events'
import { answerUpload, type UploadLimits } from './uploads'

export interface WebHostLimits extends UploadLimits {
  maxBodyBytes: number
  headersTimeoutMs: number
  /** Maximum time in milliseconds for receiving a whole call. The response time is unlimited. */
  requestTimeoutMs: number
  /** Maximum time in milliseconds for receiving a whole file, even over a slow tunnel. */
  uploadTimeoutMs: number
  heartbeatMs: number
  maxBacklogBytes: number
  /** Time in milliseconds for calls in progress to finish when the server closes. */
  closeGraceMs: number
}

const defaultLimits: WebHostLimits = {
  maxBodyBytes: 1024 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  uploadTimeoutMs: 30 * 60_000,
  uploadIdleMs: 30_000,
  maxUploadBytes,
  heartbeatMs: 15_000,
  maxBacklogBytes: 16 * 1024 * 1024,
  closeGraceMs: 500,
}

/** Maximum number of unauthenticated connections. */
const mostStrangers = 128

interface WebHostOptions {
  core: Core
  rendererDir: string
  /** Port number. 0 or undefined selects any free port. */
  port?: number
  log?: (line: string) => void
  limits?: Partial<WebHostLimits>
}

export interface WebHost {
  /** First one-time link. */
  url: string
  origin: string
  port: number
  /** Returns a new one-time link. An earlier link becomes invalid, even if it is unused. */
  newUrl(): string
  /**
   * Ends the event streams and stops listening. Does not close the core, because the caller owns
   * it.
   */
  close(): Promise<void>
}

interface Parts {
  core: Core
  port: number
  auth: Auth
  connections: Connections
  staticFiles: StaticFiles
  events: EventStreams
  limits: WebHostLimits
}

export async function startWebHost(options: WebHostOptions): Promise<WebHost> {
  const { core, rendererDir, log = () => {} } = options
  const limits = { ...defaultLimits, ...options.limits }
  const staticFiles = createStaticFiles(await RendererFiles.open(rendererDir))
  const events = createEventStreams(core, limits)

  // Load `node:http` on demand, because a static import would load a whole HTTP client every time
  // the program starts.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.uploadTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, 5_000),
  })
  const connections = limitConnections(server, mostStrangers)
  const port = await listen(server, options.port ?? 0)
  const auth = new Auth(port)
  const parts: Parts = { core, port, auth, connections, staticFiles, events, limits }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    handle(parts, request, response).catch((error: unknown) => {
      if (!(error instanceof HttpFault)) log(`The request failed: ${String(error)}`)
      if (response.headersSent) response.destroy()
      else sendFault(request, response, asFault(error))
    })
  })

  const origin = `http://127.0.0.1:${port}`
  const newUrl = (): string => `${origin}/?token=${auth.issueToken()}`
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= new Promise((resolve) => {
      const cut = setTimeout(() => server.closeAllConnections(), limits.closeGraceMs)
      server.close(() => {
        clearTimeout(cut)
        resolve()
      })
      events.closeAll()
    })
    return closing
  }
  return { url: newUrl(), origin, port, newUrl, close }
}

/** Handles a request. The sender is authenticated before the request is evaluated. */
async function handle(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
  checkHost(request, parts.port)
  const { method = '' } = request
  if (!['GET', 'HEAD', 'POST'].includes(method))
    throw new HttpFault(405, 'Only GET, HEAD and POST are served.', {
      headers: { Allow: 'GET, HEAD, POST' },
    })
  checkFetchMetadata(request)
  if (method === 'POST') checkOrigin(request)

  const [rawPath = '', query] = splitOnce(request.url ?? '', '?')
  const segments = pathSegments(rawPath)
  if (segments === null) throw new HttpFault(400, 'The address is not valid.')
  const token = segments.length === 0 ? new URLSearchParams(query).get('token') : null
  if (token !== null && method !== 'POST') return enter(parts.auth, token, request, response)
  if (!parts.auth.admits(request.headers.cookie)) return refuseEntry(segments, response)
  parts.connections.admit(request.socket)

  if (segments[0] === 'rpc') {
    if (method !== 'POST') throw wrongMethod('POST')
    const name = segments.slice(1).join('/')
    return answerCall(parts.core, name, request, response, parts.limits)
  }
  if (segments[0] === 'import' && segments.length === 1) {
    if (method !== 'POST') throw wrongMethod('POST')
    return answerUpload(parts.core, new URLSearchParams(query), request, response, parts.limits)
  }
  if (method === 'POST') throw wrongMethod('GET, HEAD')
  if (segments[0] === 'events' && segments.length === 1) return parts.events.open(request, response)
  return parts.staticFiles(segments, request, response)
}

function enter(
  auth: Auth,
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  // Consume the one-time link only if the user opened it. Link previews send HEAD requests, and
  // browsers prefetch pages, before the user opens a link.
  if (request.method === 'HEAD' || isPrefetch(request))
    throw new HttpFault(503, 'The link works only when opened by a person.')
  const cookie = auth.exchange(token)
  if (cookie === null)
    sendEntryRefused(response, 'This link has already been used, or is not valid.')
  else sendEntry(response, cookie, { byPage: isForeignNavigation(request) })
}

function refuseEntry(segments: string[], response: ServerResponse): void {
  if (['rpc', 'events', 'import'].includes(segments[0] ?? ''))
    throw new HttpFault(401, 'This browser is not signed in to this server.', {
      remedy: 'Start the server again and open the link that it prints.',
    })
  sendEntryRefused(response, 'This browser has not opened the link of this server.')
}

const wrongMethod = (allow: string): HttpFault =>
  new HttpFault(405, `This address is served for ${allow} only.`, { headers: { Allow: allow } })

/**
 * Converts an error to a response. Internal details may contain local paths, so they are only
 * logged.
 */
const asFault = (error: unknown): HttpFault =>
  error instanceof HttpFault ? error : new HttpFault(500, 'The server failed to respond.')

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        inputError(
          error.code === 'EADDRINUSE'
            ? `Port ${port} of 127.0.0.1 is in use by another program.`
            : `The server cannot listen on port ${port} of 127.0.0.1: ${error.message}.`,
          'Choose another with --port, or --port 0 for any free one.',
        ),
      ),
    )
    // Use a numeric address, because `localhost` can also resolve to another interface.
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
