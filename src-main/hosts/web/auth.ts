/**
 * Authentication of the loopback server: a one-time token is exchanged for a cookie.
 *
 * Every user of a shared machine can reach 127.0.0.1, so only who holds the one-time link gets in.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

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
