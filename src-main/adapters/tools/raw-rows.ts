/**
 * Defines a row of raw output, which contains one call and its streams. The streams may be
 * compressed.
 */
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { inputError, schemaFault } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { errorCode, mebibyte } from '../disk/disk'
import { outputLimitBytes } from './process'
import { toolNames } from './toolbox'

export const Stream = z.union([
  z.string(),
  z.object({ gzip: z.string() }),
  z.object({ brotli: z.string() }),
])

export type Stream = z.infer<typeof Stream>

const RawRow = z.object({
  key: z.string(),
  tool: z.enum(toolNames),
  argv: z.array(z.string()),
  outcome: z.enum(['exited', 'signalled', 'not-found', 'idle', 'timeout', 'flooded', 'cancelled']),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  seconds: z.number(),
  startedAt: z.string(),
  reused: z.boolean().optional(),
  stdout: Stream.default(''),
  stderr: Stream.default(''),
})

export const plainLimit = 256 * 1024

/**
 * Compresses text with Brotli, for shipped files that are compressed only once. Brotli yields
 * smaller files than gzip but is slower.
 */
export const smallest = (text: string): Promise<Buffer> =>
  promisify(brotliCompress)(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
    },
  })

const zip = promisify(gzip)

export type Method = 'gzip' | 'brotli'

export async function packed(text: string, method: Method = 'gzip'): Promise<Stream> {
  if (text.length <= plainLimit) return text
  return method === 'gzip'
    ? { gzip: (await zip(text)).toString('base64') }
    : { brotli: (await smallest(text)).toString('base64') }
}

export const damaged = (file: string, why: Statement) =>
  inputError(message('files.rawDamaged', { file, why }), message('files.rawLeft'))

const decompress = { gzip: promisify(gunzip), brotli: promisify(brotliDecompress) }

/**
 * Decompresses bytes to text. Throws an error if the bytes are damaged or expand to more than
 * `limit` bytes. Error messages contain `what`.
 */
export async function unpacked(
  method: Method,
  bytes: Buffer,
  limit: number,
  what: string,
): Promise<string> {
  // With Node's default chunk size of 16 KiB, decompressing megabytes takes twice as long.
  const options = { maxOutputLength: limit, chunkSize: 256 * 1024 }
  try {
    return (await decompress[method](bytes, options)).toString('utf8')
  } catch (error) {
    const isTooLarge = errorCode(error) === 'ERR_BUFFER_TOO_LARGE'
    const why = isTooLarge
      ? message('files.unpacksTooLarge', { most: limit / mebibyte })
      : message('files.notUnpacked')
    throw damaged(what, why)
  }
}

/** Returns a stream's text. Its decompressed size is limited to a tool's maximum output. */
export async function textOf(stream: Stream, what: string): Promise<string> {
  if (typeof stream === 'string') return stream
  const [method, base64] =
    'gzip' in stream ? (['gzip', stream.gzip] as const) : (['brotli', stream.brotli] as const)
  return unpacked(method, Buffer.from(base64, 'base64'), outputLimitBytes, what)
}

export function parseRow(text: string, what: string): z.infer<typeof RawRow> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged(what, message('files.noJson'))
  }
  const row = RawRow.safeParse(value)
  if (!row.success) throw damaged(what, schemaFault(row.error))
  return row.data
}
