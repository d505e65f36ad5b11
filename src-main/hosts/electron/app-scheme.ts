/**
 * Defines the origin of the UI in Electron. Pages loaded from file:// could read all of the user's
 * files.
 */
import { readFile } from 'node:fs/promises'
import { protocol } from 'electron'
import { pathSegments, type RendererFiles } from '../shared/renderer-files'
import { securityHeaders } from '../shared/response-headers'

const scheme = 'app'
const host = 'kernel-ladder'
export const appUrl = `${scheme}://${host}/`

/**
 * Whether a URL has the app's scheme and host. URL.origin is "null" for schemes that Node does not
 * recognize.
 */
export function isAppUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return url?.protocol === `${scheme}:` && url.host === host
}

/** URL scheme for documents to print. Each print job uses a separate Electron session. */
export const printScheme = 'print'

/** Registers the schemes. Must be called once, before the app is ready. */
export function registerSchemes(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
    { scheme: printScheme, privileges: { standard: true } },
  ])
}

export function serveAppScheme(files: RendererFiles): void {
  protocol.handle(scheme, async (request) => {
    if (!isAppUrl(request.url)) return refuse(404)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405)
    const segments = pathSegments(rawPath(request.url))
    if (segments === null) return refuse(400)
    const file = await files.find(segments)
    if (file === null) return refuse(404)
    const bytes = request.method === 'HEAD' ? null : await readFile(file.path)
    return new Response(bytes, {
      headers: {
        ...securityHeaders,
        'Content-Type': file.contentType,
        'Cache-Control': file.cacheControl,
      },
    })
  })
}

const refuse = (status: number): Response =>
  new Response(null, { status, headers: securityHeaders })

/**
 * Returns the path exactly as the page sent it. URL parsing would resolve the dots that must be
 * rejected.
 */
const rawPath = (url: string): string => url.slice(appUrl.length - 1).split(/[?#]/, 1)[0] || '/'
