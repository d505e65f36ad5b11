/** The headers of every response of both hosts. */

/**
 * Allows only our own origin. `data:` and `blob:` images are for chart exports. Scripts must be files: no inline
 * script, no eval.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/** For files whose names contain a hash of their content. */
export const cacheForever = 'public, max-age=31536000, immutable'

export const cacheNever = 'no-store'
