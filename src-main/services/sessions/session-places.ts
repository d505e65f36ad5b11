/** Returns the folders that contain sessions: the store, the recordings, and mounted folders. */
import { basename } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'

export interface SessionPlaces extends Setup {
  /** A session folder given on the command line. The session's ref is the folder's name. */
  mounted?: string
}

/** Returns the folder that contains saved sessions. */
export const storeOf = ({ machine }: Setup): string => machine.folders.sessions

/** Returns the ref for a folder given on the command line. The folder can have any name. */
export function mountedRef(folder: string): string {
  const name = basename(folder)
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
  return name.slice(0, 100) || 'session'
}
