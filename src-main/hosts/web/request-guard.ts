/** Checks that a request comes from our own page, by headers that no other page can forge. */
import type { IncomingMessage } from 'node:http'

/** A request that cannot be served, answered with `status` and the sentence. */
export class HttpFault extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** The remedy for the sender, as a sentence. */
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

/** Requires an exact Host header, so that a foreign name that resolves to 127.0.0.1 (DNS rebinding) is rejected. */
export function checkHost(request: IncomingMessage, port: number): void {
  const sent = request.headersDistinct.host ?? []
  // Normalized by URL, because a browser omits port 80 from Host.
  const allowed = ['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${port}`).host)
  if (sent.length !== 1 || !allowed.includes(sent[0]!))
    throw new HttpFault(403, 'This server responds only on its own loopback address.', {
      remedy: `Open it as 127.0.0.1:${port}. Through an SSH tunnel, forward the same port number on both sides.`,
    })
}

/**
 * Requires that a state-changing request comes from our own page: its Origin must match the Host. SameSite does not
 * protect here, since a page on another port counts as the same site.
 */
export function checkOrigin(request: IncomingMessage): void {
  if (request.headers.origin !== `http://${request.headers.host}`)
    throw new HttpFault(403, 'This call did not come from this server’s page.')
}

/**
 * Checks fetch metadata, if the browser sends it. Other sites may only link here; they may not load images or open
 * event streams.
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

/** Whether a link on another site was followed; the browser then also withholds a Strict cookie along redirects. */
export const isForeignNavigation = (request: IncomingMessage): boolean =>
  request.headers['sec-fetch-site'] === 'cross-site'

/** Whether the browser prefetches a page, which must not use up a link. */
export const isPrefetch = (request: IncomingMessage): boolean =>
  /prefetch/i.test(String(request.headers['sec-purpose'] ?? request.headers.purpose ?? ''))
