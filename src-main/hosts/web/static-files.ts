/** Serves the files of the built UI over HTTP. Each file is compressed once and cached. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { RendererFile, RendererFiles } from '../shared/renderer-files'
import { HttpFault } from './request-guard'
import { send } from './respond'

/**
 * Minimum size for compression in bytes. Smaller files do not shrink, because the compression
 * format adds a header.
 */
const minCompressedBytes = 1000

export type StaticFiles = (
  segments: string[],
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>

export function createStaticFiles(files: RendererFiles): StaticFiles {
  const compressed = new Map<string, { modifiedMs: number; size: number; bytes: Promise<Buffer> }>()

  // Cache the promise, so that two simultaneous requests for a file compress it only once.
  const compressedBytes = (file: RendererFile): Promise<Buffer> => {
    const { path, modifiedMs, size } = file
    const kept = compressed.get(path)
    if (kept?.modifiedMs === modifiedMs && kept.size === size) return kept.bytes
    const bytes = readFile(path).then((content) => promisify(gzip)(content))
    // Don't cache a failed read, so that the next request tries again.
    bytes.catch(() => compressed.delete(path))
    compressed.set(path, { modifiedMs, size, bytes })
    return bytes
  }

  return async (segments, request, response) => {
    const file = await files.find(segments)
    if (file === null) throw new HttpFault(404, 'There is no such file.')
    const compressible = file.text && file.size > minCompressedBytes
    const compress = compressible && acceptsGzip(request.headers['accept-encoding'])
    const bytes = compress ? await compressedBytes(file) : await readFile(file.path)
    send(response, 200, bytes, {
      'Content-Type': file.contentType,
      'Cache-Control': file.cacheControl,
      ...(compressible ? { Vary: 'Accept-Encoding' } : {}),
      ...(compress ? { 'Content-Encoding': 'gzip' } : {}),
    })
  }
}

const acceptsGzip = (header: string | string[] | undefined): boolean =>
  String(header ?? '')
    .split(',')
    .some((coding) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding))
