/** The places that contain sessions: the store, recordings, and mounted folders. */
import { basename } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'

export interface SessionPlaces extends Setup {
  /** A session folder given on the command line, reachable by its folder name. */
  mounted?: string
}

/** Returns the folder of saved sessions. */
export const storeOf = ({ machine }: Setup): string => machine.folders.sessions

/** Returns the ref of a folder given on the command line, whose name can be anything. */
export function mountedRef(folder: string): string {
  const name = basename(folder)
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
  return name.slice(0, 100) || 'session'
}
