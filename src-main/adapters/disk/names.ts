/**
 * Handles file names that are not valid UTF-8. A file name can contain any bytes, but Node decodes
 * arguments and names as UTF-8.
 */
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError } from './disk'
import { scratchFolder } from './owned-folder'

/**
 * Returns a unique string for a file name. If the string contains an escaped byte, all backslashes
 * are escaped too.
 */
export function nameText(name: Buffer): string {
  const text = name.toString('utf8')
  const isText = Buffer.from(text, 'utf8').equals(name)
  const control = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/
  if (isText && !control.test(text)) return text
  const escaped = (code: number): string => `\\x${code.toString(16).padStart(2, '0')}`
  return isText
    ? [...text]
        .map((one) =>
          one === '\\' ? '\\\\' : control.test(one) ? escaped(one.codePointAt(0)!) : one,
        )
        .join('')
    : [...name]
        .map((byte) =>
          byte === 0x5c
            ? '\\\\'
            : byte < 0x20 || byte > 0x7e
              ? escaped(byte)
              : String.fromCharCode(byte),
        )
        .join('')
}

interface GivenFile {
  /** A path that Node can open. */
  path: string
  remove(): Promise<void>
}

/**
 * Opens a file named on the command line. The operating system provides the name's exact bytes. If
 * the name is not valid UTF-8, copies the file and returns the copy's path.
 */
export async function givenFile(argument: string): Promise<GivenFile> {
  const asGiven = { path: argument, remove: () => Promise.resolve() }
  if (!argument.includes('\ufffd')) return asGiven
  const words = (await readFile('/proc/self/cmdline', 'latin1').catch(() => ''))
    .split('\0')
    .map((word) => Buffer.from(word, 'latin1'))
  const raw = words.find((word) => word.toString('utf8') === argument)
  if (!raw || Buffer.from(argument).equals(raw)) return asGiven
  const { path: folder, remove } = await scratchFolder()
  const path = join(folder, nameText(raw.subarray(raw.lastIndexOf('/') + 1)))
  try {
    await copyFile(raw, path)
  } catch (error) {
    await remove()
    throw diskError(error, nameText(raw), 'read')
  }
  return { path, remove }
}
