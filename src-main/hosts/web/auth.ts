/**
 * Authentication of the loopback server: a one-time token is exchanged for a cookie.
 *
 * Every user of a shared machine can reach 127.0.0.1, so access requires the one-time link.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const secret = (): string => randomBytes(32).toString('base64url')

/** Returns the digest that is stored and compared instead of the secret. All digests have the same length. */
const digest = (value: string): Buffer => createHash('sha256').update(value).digest()

export class Auth {
  readonly #cookieName: string
  #token: Buffer | null = null
  readonly #sessions: Buffer[] = []

  /** Browsers share cookies between all ports of a host, so the port in the name keeps servers apart. */
  constructor(port: number) {
    this.#cookieName = `kernel-ladder-${port}`
  }

  /** Issues a new one-time token; an unused earlier one stops working. */
  issueToken(): string {
    const token = secret()
    this.#token = digest(token)
    return token
  }

  /** Consumes a valid token and returns the Set-Cookie value; null for any other token. */
  exchange(token: string): string | null {
    // A wrong guess must not void the token, or any local user could void the link.
    if (this.#token === null || !timingSafeEqual(digest(token), this.#token)) return null
    this.#token = null
    const session = secret()
    this.#sessions.push(digest(session))
    // Not `Secure`, since loopback is plain HTTP. It has no lifetime and ends with the browser or this process.
    return `${this.#cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`
  }

  admits(cookieHeader: string | undefined): boolean {
    const prefix = `${this.#cookieName}=`
    let admitted = false
    // Tries all cookies of our name: a page on another port can add one.
    for (const cookie of (cookieHeader ?? '').split(';')) {
      const pair = cookie.trim()
      if (!pair.startsWith(prefix)) continue
      const offered = digest(pair.slice(prefix.length))
      // No early exit, so that the timing does not reveal which session matched.
      for (const session of this.#sessions) admitted = timingSafeEqual(offered, session) || admitted
    }
    return admitted
  }
}
