/** Checks that the UI's own page sent a request. Uses headers that other pages cannot forge. */
import type { IncomingMessage } from 'node:http'

/** An error that rejects a request. The server responds with `status` and the error's message. */
export class HttpFault extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** A suggested fix for the user, as a sentence. */
  readonly remedy: string | undefined

  constructor(
    status: number,
    message: string,
    { headers = {}, remedy }: { headers?: Record<string, string>; remedy?: string } = {},
  ) {
    super(message)
    this.status = status
    this.headers = headers
    this.remedy = remedy
  }
}

/**
 * Requires the expected Host header, which blocks DNS rebinding. In DNS rebinding, a foreign name
 * resolves to 127.0.0.1.
 */
export function checkHost(request: IncomingMessage, port: number): void {
  const sent = request.headersDistinct.host ?? []
  // Normalize the address with the URL class, because browsers omit port 80 from Host.
  const allowed = ['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${port}`).host)
  if (sent.length !== 1 || !allowed.includes(sent[0]!))
    throw new HttpFault(403, 'This server responds only on its own loopback address.', {
      remedy: `Open it as 127.0.0.1:${port}. Through an SSH tunnel, forward the same port number on both sides.`,
    })
}

/**
 * Requires an Origin header that matches the Host for requests that change state. SameSite cookies
 * are not enough, because a page on another port belongs to the same site.
 */
export function checkOrigin(request: IncomingMessage): void {
  if (request.headers.origin !== `http://${request.headers.host}`)
    throw new HttpFault(403, 'This call did not come from this server’s page.')
}

/**
 * Checks the fetch metadata if the browser sends it. Other sites may link to the UI, but must not
 * load its images or open its event streams.
 */
export function checkFetchMetadata(request: IncomingMessage): void {
  const {
    'sec-fetch-site': site,
    'sec-fetch-mode': mode,
    'sec-fetch-dest': destination,
  } = request.headers
  if (site === undefined || site === 'same-origin') return
  const reads = request.method === 'GET' || request.method === 'HEAD'
  const typedByThePerson = site === 'none'
  const followedLink = mode === 'navigate' && destination === 'document'
  if (!reads || !(typedByThePerson || followedLink))
    throw new HttpFault(403, 'This request came from another site.')
}

/**
 * Whether the user followed a link on another site. For such a link, the browser does not send a
 * Strict cookie, not even across redirects.
 */
export const isForeignNavigation = (request: IncomingMessage): boolean =>
  request.headers['sec-fetch-site'] === 'cross-site'

/** Whether the browser is prefetching a page. A prefetch must not use up a one-time link. */
export const isPrefetch = (request: IncomingMessage): boolean =>
  /prefetch/i.test(String(request.headers['sec-purpose'] ?? request.headers.purpose ?? ''))
