/** Defines the headers of every response in the web and Electron hosts. */

/**
 * Restricts pages to content from the UI's own origin. Chart exports need `data:` and `blob:`
 * images. Only scripts from files may run. Inline scripts and eval are blocked.
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

/** Cache header for files whose names contain a content hash. */
export const cacheForever = 'public, max-age=31536000, immutable'

export const cacheNever = 'no-store'
