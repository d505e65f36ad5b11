/** Who may ask: the lock of the loopback server, a browser's own words on where a request is from, and room for whoever is signed in. */
import type { IncomingMessage, Server } from 'node:http'
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'

// Which requests come from our own page, judged by what a browser lets no other page forge.

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

// The lock of the loopback server. Every user of a shared machine can reach 127.0.0.1, so only who
// holds the one-time link gets in: its token is exchanged, once, for a cookie.

const secret = (): string => randomBytes(32).toString('base64url')

/** Digests are compared in place of secrets: equal in length whatever was sent, and kept in place of them. */
const digest = (value: string): Buffer => createHash('sha256').update(value).digest()

export class Auth {
  readonly #cookieName: string
  #token: Buffer | null = null
  readonly #sessions: Buffer[] = []

  /** A browser keeps one cookie jar for all ports of a host: the port in the name keeps servers apart. */
  constructor(port: number) {
    this.#cookieName = `kernel-ladder-${port}`
  }

  /** A new one-time token; one that was issued before and not yet used stops working. */
  issueToken(): string {
    const token = secret()
    this.#token = digest(token)
    return token
  }

  /** The Set-Cookie value for a valid token, which is used up by it; null for any other. */
  exchange(token: string): string | null {
    // A wrong guess leaves the token alone, or any local user could void the link.
    if (this.#token === null || !timingSafeEqual(digest(token), this.#token)) return null
    this.#token = null
    const session = secret()
    this.#sessions.push(digest(session))
    // Not `Secure`: loopback is plain HTTP. No lifetime: it ends with the browser, or with this process.
    return `${this.#cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`
  }

  admits(cookieHeader: string | undefined): boolean {
    const prefix = `${this.#cookieName}=`
    let admitted = false
    // All cookies of our name are tried: a page on another port can plant one beside the true one.
    for (const cookie of (cookieHeader ?? '').split(';')) {
      const pair = cookie.trim()
      if (!pair.startsWith(prefix)) continue
      const offered = digest(pair.slice(prefix.length))
      // No early exit, so that the time taken says nothing of which session matched.
      for (const session of this.#sessions) admitted = timingSafeEqual(offered, session) || admitted
    }
    return admitted
  }
}

// Room for whoever is signed in: every user of a shared machine can open connections to the server, and a fixed
// limit would let them lock its owner out. Of those that have shown no cookie, the oldest makes room for the newest.

export interface Connections {
  /** The connection has sent a request of somebody who is signed in. */
  admit(socket: Socket): void
}

export function limitConnections(server: Server, mostStrangers: number): Connections {
  /** In the order of their arrival. */
  const strangers = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    strangers.add(socket)
    socket.once('close', () => strangers.delete(socket))
    if (strangers.size > mostStrangers) {
      const [oldest] = strangers
      strangers.delete(oldest!)
      oldest!.destroy()
    }
  })
  return { admit: (socket) => strangers.delete(socket) }
}
