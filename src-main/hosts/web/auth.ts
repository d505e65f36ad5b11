/**
 * Authenticates users of the loopback server. A one-time token is exchanged for a cookie.
 *
 * Every user of a shared machine can reach 127.0.0.1, so access requires the one-time link.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const secret = (): string => randomBytes(32).toString('base64url')

/**
 * Returns the secret's digest, which is stored and compared instead of the secret. All digests have
 * the same length.
 */
const digest = (value: string): Buffer => createHash('sha256').update(value).digest()

export class Auth {
  readonly #cookieName: string
  #token: Buffer | null = null
  readonly #sessions: Buffer[] = []

  /** Browsers share cookies between all ports of a host, so the cookie's name contains the port. */
  constructor(port: number) {
    this.#cookieName = `kernel-ladder-${port}`
  }

  /** Issues a new one-time token. An earlier unused token becomes invalid. */
  issueToken(): string {
    const token = secret()
    this.#token = digest(token)
    return token
  }

  /** Consumes a valid token and returns the Set-Cookie value. Returns null for an invalid token. */
  exchange(token: string): string | null {
    // A wrong guess must not invalidate the token. Otherwise any local user could invalidate the
    // link.
    if (this.#token === null || !timingSafeEqual(digest(token), this.#token)) return null
    this.#token = null
    const session = secret()
    this.#sessions.push(digest(session))
    // Loopback uses plain HTTP, so the cookie is not `Secure`. The cookie ends with the browser
    // session or this process.
    return `${this.#cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`
  }

  admits(cookieHeader: string | undefined): boolean {
    const prefix = `${this.#cookieName}=`
    let admitted = false
    // Check every cookie of this name, because a page on another port can add one.
    for (const cookie of (cookieHeader ?? '').split(';')) {
      const pair = cookie.trim()
      if (!pair.startsWith(prefix)) continue
      const offered = digest(pair.slice(prefix.length))
      // Compare with all sessions, so that the timing does not reveal which session matched.
      for (const session of this.#sessions) admitted = timingSafeEqual(offered, session) || admitted
    }
    return admitted
  }
}
