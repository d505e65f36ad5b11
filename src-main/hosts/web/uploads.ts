/**
 * Handles POST /import. Stores a file from the user's browser in a private temporary file and
 * passes it to the core.
 *
 * The address is POST /import?name=…&modified=…. The body contains the raw bytes, and the response
 * is a Reply.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mkdtemp, open, rm, utimes, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Core, Reply } from '../../contract/index'
import { HttpFault } from './request-guard'
import { sendReply } from './respond'
import type { ImportAnswer } from '../../contract/sessions'
import { KernelLadderError, toErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'

export interface UploadLimits {
  maxUploadBytes: number
  /** Milliseconds without data after which an upload is aborted. */
  uploadIdleMs: number
}

export async function answerUpload(
  core: Core,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
  limits: UploadLimits,
): Promise<void> {
  sendReply(response, 200, await importUpload(core, query, request, limits))
}

async function importUpload(
  core: Core,
  query: URLSearchParams,
  request: IncomingMessage,
  limits: UploadLimits,
): Promise<Reply<ImportAnswer>> {
  const name = fileName(query.get('name'))
  // The content type check also blocks forms that other sites submit. Browsers send this content
  // type to another site only after a CORS preflight.
  if (request.headers['content-type'] !== 'application/octet-stream')
    throw new HttpFault(415, 'A file must be sent as application/octet-stream.')
  // Only this user can read the folder, which is removed after the response.
  const folder = await mkdtemp(join(tmpdir(), 'kernel-ladder-upload-'))
  try {
    const path = join(folder, name)
    await receive(request, path, limits)
    const modified = new Date(Number(query.get('modified') ?? Number.NaN))
    // Keep the date of the uploaded file, because a CSV file does not contain its creation date.
    if (!Number.isNaN(modified.getTime())) await utimes(path, modified, modified)
    return { ok: true, value: await core.importFile(path) }
  } catch (error) {
    if (error instanceof HttpFault) throw error
    return { ok: false, error: toErrorShape(error) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns a file name without path separators, so that it cannot refer to another folder. */
function fileName(sent: string | null): string {
  const name = (sent ?? '')
    .replaceAll(/[\p{Cc}/\\:]/gu, '-')
    .replace(/^\.+/, '')
    .trim()
  if (!name) throw new HttpFault(400, 'The file has no name.')
  // File systems limit names to 255 bytes. Keep the extension, because it determines how the file
  // is parsed.
  const bytes = Buffer.from(name)
  return bytes.length <= 200 ? name : `${bytes.subarray(0, 150).toString()}…${name.slice(-12)}`
}

async function receive(
  request: IncomingMessage,
  path: string,
  { maxUploadBytes, uploadIdleMs }: UploadLimits,
): Promise<void> {
  const tooLarge = new HttpFault(413, `The file is larger than ${maxUploadBytes / 2 ** 20} MiB.`, {
    remedy: 'Import it on the command line: kernel-ladder import FILE',
  })
  if (Number(request.headers['content-length'] ?? 0) > maxUploadBytes) throw tooLarge
  const file = await open(path, 'wx', 0o600)
  const idle = setTimeout(() => {
    request.destroy(new HttpFault(408, 'The upload stalled.'))
  }, uploadIdleMs)
  try {
    let size = 0
    // Don't destroy the request, because a rejection is sent over the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      idle.refresh()
      size += (chunk as Buffer).length
      if (size > maxUploadBytes) throw tooLarge
      await write(file, chunk as Buffer)
    }
    if (!request.complete) throw new HttpFault(400, 'The file was truncated.')
  } catch (error) {
    if (error instanceof HttpFault || error instanceof KernelLadderError) throw error
    throw new HttpFault(400, 'The file was truncated.')
  } finally {
    clearTimeout(idle)
    await file.close()
  }
}

async function write(file: FileHandle, chunk: Buffer): Promise<void> {
  try {
    await file.writeFile(chunk)
  } catch (error) {
    const full = error instanceof Error && 'code' in error && error.code === 'ENOSPC'
    throw new KernelLadderError(
      'failed',
      full
        ? message('imports.noSpace', { folder: tmpdir() })
        : message('imports.notKept', { folder: tmpdir(), text: String(error) }),
      message('imports.useCommand'),
    )
  }
}
