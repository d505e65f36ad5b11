/** Packs several files into one, for hosts that can deliver only a single file. */
import { strToU8, zipSync } from 'fflate'

interface ZippedFile {
  /** With `/` as separator. */
  path: string
  content: string | Uint8Array
}

/**
 * Returns a zip. The same files yield the same bytes: the date is the earliest that a zip can represent in any time
 * zone.
 */
export const zipFiles = (files: readonly ZippedFile[]): Uint8Array =>
  zipSync(
    Object.fromEntries(
      files.map(({ path, content }) => [
        path,
        typeof content === 'string' ? strToU8(content) : content,
      ]),
    ),
    { level: 9, mtime: new Date(1980, 0, 1) },
  )
