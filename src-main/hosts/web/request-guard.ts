/** Checks that a request comes from our own page, by headers that no other page can forge. */
import type { IncomingMessage } from 'node:http'

/** A request that cannot be served as it was sent, answered with `status` and the sentence. */
export class HttpFault extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** What the sender can do about it, as a sentence. */
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

/** An exact Host: a foreign name that resolves to 127.0.0.1 (DNS rebinding) gets nothing. */
export function checkHost(request: IncomingMessage, port: number): void {
  const sent = request.headersDistinct.host ?? []
  // Through URL, because a browser leaves the port out of Host when it is 80.
  const allowed = ['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${port}`).host)
  if (sent.length !== 1 || !allowed.includes(sent[0]!))
    throw new HttpFault(403, 'This server responds only on its own loopback address.', {
      remedy: `Open it as 127.0.0.1:${port}. Through an SSH tunnel, forward the same port number on both sides.`,
    })
}

/**
 * What changes state must come from our own page: its Origin is the very address it was sent to.
 * SameSite does not see to this, for a page on another port of the same host is the same site.
 */
export function checkOrigin(request: IncomingMessage): void {
  if (request.headers.origin !== `http://${request.headers.host}`)
    throw new HttpFault(403, 'This call did not come from this server’s page.')
}

/**
 * Fetch metadata, where the browser sends it: other sites may lead a person here by a link, and
 * nothing else; not even to load a picture or to hold an event stream open.
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

/** Followed from another site: the browser then holds a Strict cookie back along redirects too. */
export const isForeignNavigation = (request: IncomingMessage): boolean =>
  request.headers['sec-fetch-site'] === 'cross-site'

/** Browsers fetch ahead what a person may open; that must not use up a link. */
export const isPrefetch = (request: IncomingMessage): boolean =>
  /prefetch/i.test(String(request.headers['sec-purpose'] ?? request.headers.purpose ?? ''))
