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

/** Saved sessions. `KERNEL_LADDER_DATA` moves it. */
export const dataDir = (): string => base('KERNEL_LADDER_DATA', 'XDG_DATA_HOME', '.local', 'share')

/** Build results and unpacked assets; may be deleted at any time. `KERNEL_LADDER_CACHE` moves it. */
export const cacheDir = (): string => base('KERNEL_LADDER_CACHE', 'XDG_CACHE_HOME', '.cache')

/** Copies of rungs that are being edited. */
export const draftsDir = (): string => join(dataDir(), 'drafts')

export const sessionsDir = (): string => join(dataDir(), 'sessions')

/**
 * Build results that are looked at and never written, beside the own cache: a graded submission has a
 * cache to itself, and finds there what is the same for all. `KERNEL_LADDER_SHARED_CACHE` names it.
 */
export const sharedCacheDir = (): string | null => process.env.KERNEL_LADDER_SHARED_CACHE || null
