/**
 * Maps a request path to a file of the built UI, for the web and Electron hosts. Other files cannot
 * be reached.
 */
import { realpath, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { KernelLadderError } from '../../domain/errors'
import { cacheForever, cacheNever } from './response-headers'

interface FileType {
  contentType: string
  /** Whether the file is text and worth compressing. */
  text: boolean
}

const text = (contentType: string): FileType => ({
  contentType: `${contentType}; charset=utf-8`,
  text: true,
})
const binary = (contentType: string): FileType => ({ contentType, text: false })

const fileTypes = new Map<string, FileType>([
  ['.html', text('text/html')],
  ['.js', text('text/javascript')],
  ['.mjs', text('text/javascript')],
  ['.css', text('text/css')],
  ['.json', text('application/json')],
  ['.map', text('application/json')],
  ['.webmanifest', text('application/manifest+json')],
  ['.svg', text('image/svg+xml')],
  ['.txt', text('text/plain')],
  ['.png', binary('image/png')],
  ['.jpg', binary('image/jpeg')],
  ['.jpeg', binary('image/jpeg')],
  ['.gif', binary('image/gif')],
  ['.webp', binary('image/webp')],
  ['.ico', binary('image/vnd.microsoft.icon')],
  ['.woff', binary('font/woff')],
  ['.woff2', binary('font/woff2')],
  ['.ttf', binary('font/ttf')],
])
const unknownType = binary('application/octet-stream')

export interface RendererFile extends FileType {
  path: string
  size: number
  modifiedMs: number
  cacheControl: string
}

/**
 * Returns the decoded segments of a request path.
 *
 * Returns null for invalid escapes, encoded separators, control characters, backslashes, `.`, `..`
 * and empty segments. Normal clients never send these paths. They are rejected, not corrected,
 * because implementations differ in their corrections.
 */
export function pathSegments(rawPath: string): string[] | null {
  if (!rawPath.startsWith('/') || /%(?:2f|5c)/i.test(rawPath)) return null
  let path: string
  try {
    path = decodeURIComponent(rawPath)
  } catch {
    return null
  }
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return null
  const segments = path.slice(1).split('/')
  if (segments.at(-1) === '') segments.pop()
  return segments.some((segment) => segment === '' || segment === '.' || segment === '..')
    ? null
    : segments
}

/** Whether a name matches Vite's pattern `assets/<name>-<8 characters of hash>.<extension>`. */
const isHashed = (segments: string[]): boolean =>
  segments[0] === 'assets' && /-[\w-]{8}\.\w+$/.test(segments.at(-1) ?? '')

export class RendererFiles {
  readonly #root: string

  private constructor(root: string) {
    this.#root = root
  }

  /**
   * Opens the built UI. Throws an error if the UI was not built. The host then fails at startup
   * instead of showing a blank page.
   */
  static async open(rendererDir: string): Promise<RendererFiles> {
    try {
      const root = await realpath(rendererDir)
      await stat(join(root, 'index.html'))
      return new RendererFiles(root)
    } catch (error) {
      throw new KernelLadderError(
        'missing',
        `The user interface has not been built: there is no index.html in ${rendererDir}.`,
        'Run `npm run build` and start again.',
        { cause: error },
      )
    }
  }

  /**
   * Returns the file for a path's segments. A path that names no asset is a UI route, and its file
   * is index.html. Only a known file extension identifies an asset, because session names may
   * contain a dot.
   */
  async find(segments: string[]): Promise<RendererFile | null> {
    const last = segments.at(-1)
    if (last === undefined) return this.#file(['index.html'])
    const found = await this.#file(segments)
    if (found !== null) return found
    const isPlaceInUi =
      segments[0] !== 'assets' &&
      !last.startsWith('.') &&
      !fileTypes.has(extname(last).toLowerCase())
    return isPlaceInUi ? this.#file(['index.html']) : null
  }

  async #file(segments: string[]): Promise<RendererFile | null> {
    // Reject these names. A build contains no hidden files, and on Windows, a colon opens an
    // alternate data stream.
    if (segments.some((segment) => segment.startsWith('.') || segment.includes(':'))) return null
    try {
      // Resolve links before the comparison, so that links cannot lead out of the folder.
      const path = await realpath(join(this.#root, ...segments))
      if (!path.startsWith(this.#root + sep)) return null
      const status = await stat(path)
      if (!status.isFile()) return null
      return {
        path,
        size: status.size,
        modifiedMs: status.mtimeMs,
        cacheControl: isHashed(segments) ? cacheForever : cacheNever,
        ...(fileTypes.get(extname(path).toLowerCase()) ?? unknownType),
      }
    } catch {
      return null
    }
  }
}
