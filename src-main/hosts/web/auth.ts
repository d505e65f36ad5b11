/**
 * Authenticates users of the loopback server. A one-time token is exchanged for a cookie.
 *
 * On a shared machine, every user can reach 127.0.0.1, so access requires the one-time link.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const secret = (): string => randomBytes(32).toString('base64url')

/**
 * Returns a secret's digest. Only digests are stored and compared. All digests have the same
 * length, as `timingSafeEqual` requires.
 */
const digest = (value: string): Buffer => createHash('sha256').update(value).digest()

export class Auth {
  readonly #cookieName: string
  #token: Buffer | null = null
  readonly #sessions: Buffer[] = []

  /** Browsers share cookies across all ports of a host, so the cookie's name contains the port. */
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
    // A wrong guess must not invalidate the token, because any local user could then make the link
    // unusable.
    if (this.#token === null || !timingSafeEqual(digest(token), this.#token)) return null
    this.#token = null
    const session = secret()
    this.#sessions.push(digest(session))
    // The cookie is not `Secure`, because loopback uses plain HTTP. The cookie becomes invalid when
    // the browser session or this process ends.
    return `${this.#cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`
  }

  admits(cookieHeader: string | undefined): boolean {
    const prefix = `${this.#cookieName}=`
    let admitted = false
    // Check every cookie with this name, because a page on another port can add such a cookie.
    for (const cookie of (cookieHeader ?? '').split(';')) {
      const pair = cookie.trim()
      if (!pair.startsWith(prefix)) continue
      const offered = digest(pair.slice(prefix.length))
      // Compare the cookie with all sessions, so that the response time does not reveal which
      // session matched.
      for (const session of this.#sessions) admitted = timingSafeEqual(offered, session) || admitted
    }
    return admitted
  }
}
