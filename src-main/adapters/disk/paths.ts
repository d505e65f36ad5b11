/** Where this program keeps things for its user, by the XDG base directory convention. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** Set to nothing is not set; and of a relative path the convention says that it is to be ignored. */
function base(own: string, xdg: string, ...fallback: string[]): string {
  const moved = process.env[own]
  if (moved) return resolve(moved)
  const shared = process.env[xdg]
  return join(shared && isAbsolute(shared) ? shared : join(homedir(), ...fallback), 'kernel-ladder')
}

/** What its user made. `KERNEL_LADDER_DATA` moves it. */
const dataDir = (): string => base('KERNEL_LADDER_DATA', 'XDG_DATA_HOME', '.local', 'share')

/** Build results and unpacked assets; may be deleted at any time. `KERNEL_LADDER_CACHE` moves it. */
export const cacheDir = (): string => base('KERNEL_LADDER_CACHE', 'XDG_CACHE_HOME', '.cache')

/** As the environment names them now. */
export const userFolders = () => ({
  home: homedir(),
  cache: cacheDir(),
  sessions: join(dataDir(), 'sessions'),
  /** Copies of rungs that are being edited. */
  drafts: join(dataDir(), 'drafts'),
  /** Which ladder folders were opened, and which are trusted. */
  ladders: join(dataDir(), 'ladders'),
  /** What a student did, and which labs from elsewhere are trusted. */
  labs: join(dataDir(), 'labs'),
})

/**
 * Build results that are looked at and never written, beside the own cache: a graded submission has a
 * cache to itself, and finds there what is the same for all. `KERNEL_LADDER_SHARED_CACHE` names it.
 */
export const sharedCacheDir = (): string | null => process.env.KERNEL_LADDER_SHARED_CACHE || null
