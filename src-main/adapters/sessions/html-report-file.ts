/** Reads HTML reports from disk. */
import { open, readFile, stat } from 'node:fs/promises'
import { message } from '../../domain/messages/message'
import { inputError } from '../../domain/errors'
import { parseReportHtml, type ReadReport } from '../../parsers/report/report-html'

/** Maximum report size in bytes. Even reports with hundreds of rungs are below this limit. */
const maxBytes = 512 * 1024 * 1024

/**
 * Whether the start of a file looks like an HTML page. Returns false for an unreadable file,
 * because the caller reports the error later.
 */
export async function isHtmlFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  // Don't read a pipe or a device, because the read may never finish.
  if (!found?.isFile()) return false
  const handle = await open(path, 'r').catch(() => null)
  if (!handle) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0)
    return /^\uFEFF?\s*<!doctype html/i.test(buffer.toString('utf8', 0, bytesRead))
  } finally {
    await handle.close()
  }
}

/**
 * Reads a report. If the file contains no readable report, throws an input error that names the
 * file.
 */
export async function readFrozenReport(path: string): Promise<ReadReport> {
  const { size } = await stat(path)
  if (size > maxBytes)
    throw inputError(message('pages.tooLarge', { file: path, size: maxBytes / 1024 / 1024 }))
  return parseReportHtml(await readFile(path, 'utf8'), path)
}
