/** Several files as one, for a host that can hand over only one. */
import { strToU8, zipSync } from 'fflate'

export interface ZippedFile {
  /** With `/` between folders. */
  path: string
  content: string | Uint8Array
}

/** The same files give the same bytes: the date in it is the first that a zip can hold, whatever the time zone. */
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
