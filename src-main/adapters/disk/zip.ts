/** Packs several files into one zip file, for hosts that can deliver only a single file. */
import { strToU8, zipSync } from 'fflate'

interface ZippedFile {
  /** Path inside the zip file, with `/` as the separator. */
  path: string
  content: string | Uint8Array
}

/**
 * Returns the bytes of a zip file. The same files always yield the same bytes, because the stored
 * date is fixed. The date is the earliest date that is valid in every time zone.
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
