/**
 * Edits a file in a ladder folder. Reads the file together with its version, and writes it
 * atomically.
 */
import { readFile, realpath, stat } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { createHash } from 'node:crypto'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { isBinaryFile } from '../../domain/ladder/rung'
import { errorCode, diskError, replaceFile } from '../disk/disk'
import { ladderFileNames, headerName, shownPath, refusalOf } from './ladder-folder'

interface ReadFile {
  /** The file's text with LF line endings, as shown in the editor. */
  text: string
  /** SHA-256 hash of the file's bytes, in hexadecimal. */
  version: string
  /** Reason why saving would lose data. Null if saving is safe. */
  locked: string | null
}

const versionOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function decode(bytes: Buffer, name: string): Pick<ReadFile, 'text' | 'locked'> {
  try {
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      locked: null,
    }
  } catch {
    return {
      text: bytes.toString('utf8'),
      locked: `${name} is not UTF-8 text, so saving it here would lose some of its contents.`,
    }
  }
}

/**
 * Reads a file. Returns null if the file does not exist. Throws an error if the file is unusable.
 */
export async function readFolderFile(folder: string, name: string): Promise<ReadFile | null> {
  const why = await refusalOf(folder, name)
  if (why !== null) {
    if (await isAbsent(join(folder, name))) return null
    throw inputError(message('written.fault', { place: shownPath(join(folder, name)), fault: why }))
  }
  const bytes = await readFile(join(folder, name))
  if (isBinaryFile(name))
    return { text: '', version: versionOf(bytes), locked: `${name} is machine code, not text.` }
  const { text, locked } = decode(bytes, name)
  return { text: text.replaceAll('\r\n', '\n'), version: versionOf(bytes), locked }
}

const isAbsent = (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  )

/** Whether the editor may write this file. Only ladder files, sources, and headers are editable. */
const isEditable = (name: string): boolean =>
  (ladderFileNames.some((known) => known === name) ||
    /\.(cu|py|ptx)$/.test(name) ||
    headerName.test(name)) &&
  !name.split('/').some((part) => part.startsWith('.'))

const isCrlf = (text: string): boolean => /\r\n/.test(text) && !/(^|[^\r])\n/.test(text)

type Saved = { saved: true; version: string } | { saved: false; now: ReadFile | null }

/**
 * Saves a file if its version is still `version`. Otherwise writes nothing. For a new file,
 * `version` is null.
 */
export async function saveFolderFile(
  folder: string,
  name: string,
  text: string,
  version: string | null,
): Promise<Saved> {
  const shown = shownPath(join(folder, name))
  if (!isEditable(name))
    throw inputError(message('folders.notOfLadder', { file: shown }), message('folders.whatIs'))
  const now = await readFolderFile(folder, name)
  if ((now?.version ?? null) !== version) return { saved: false, now }
  if (now?.locked) throw inputError(now.locked, 'Convert it with another editor first.')
  try {
    const root = await realpath(folder)
    // If the file is a link, write to its target inside the folder, so that the link remains.
    const target = now ? await realpath(join(root, name)) : join(root, name)
    const above = await realpath(dirname(target))
    if (above !== root && !above.startsWith(`${root}/`) && !above.startsWith(`${root}\\`))
      throw inputError(message('folders.notInFolder', { file: shown }))
    const bytes = Buffer.from(
      now && isCrlf(await readFile(target, 'utf8')) ? text.replace(/\r?\n/g, '\r\n') : text,
    )
    const kept = now ? { mode: (await stat(target)).mode & 0o7777 } : {}
    await replaceFile(target, bytes, { flush: true, ...kept })
    return { saved: true, version: versionOf(bytes) }
  } catch (error) {
    throw diskError(error, shown, 'write', 'other')
  }
}
