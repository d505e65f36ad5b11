/** Defines the locations of user files, according to the XDG base directory specification. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

/**
 * Returns the home directory. Throws an error if the user has no home directory, as in some
 * containers. A relative home directory would depend on the current directory.
 */
function home(): string {
  let found = ''
  try {
    found = homedir()
  } catch {
    // HOME is not set, and the user is unknown to the system.
  }
  if (!isAbsolute(found))
    throw new KernelLadderError('missing', message('files.noHome'), message('files.setFolders'))
  return found
}

/**
 * Returns one of the program's base folders, such as the cache. An empty variable is treated as
 * unset. Relative paths are ignored, as the specification requires.
 */
function base(own: string, xdg: string, ...fallback: string[]): string {
  const moved = process.env[own]
  if (moved) return resolve(moved)
  const shared = process.env[xdg]
  return join(shared && isAbsolute(shared) ? shared : join(home(), ...fallback), 'kernel-ladder')
}

/** Returns the folder for user data. `KERNEL_LADDER_DATA` overrides the location. */
const dataDir = (): string => base('KERNEL_LADDER_DATA', 'XDG_DATA_HOME', '.local', 'share')

/**
 * Returns the folder for build results and unpacked assets. Users may delete the cache folder at
 * any time. `KERNEL_LADDER_CACHE` overrides the location.
 */
export const cacheDir = (): string => base('KERNEL_LADDER_CACHE', 'XDG_CACHE_HOME', '.cache')

/**
 * Returns the folder for configuration files that users edit. `KERNEL_LADDER_CONFIG` overrides the
 * location.
 */
const configDir = (): string => base('KERNEL_LADDER_CONFIG', 'XDG_CONFIG_HOME', '.config')

/** Returns all user folders for the current environment. */
export const userFolders = () => ({
  home: home(),
  /** Folder that contains machines.yaml. */
  config: configDir(),
  cache: cacheDir(),
  sessions: join(dataDir(), 'sessions'),
  /** Edited copies of rungs. */
  drafts: join(dataDir(), 'drafts'),
  /** Lists of recently opened and trusted ladder folders. */
  ladders: join(dataDir(), 'ladders'),
  /** Results of tuning sweeps. */
  tunes: join(dataDir(), 'tunes'),
  /** Students' work, and the list of trusted third-party labs. */
  labs: join(dataDir(), 'labs'),
})

/**
 * Returns the read-only cache that is searched in addition to the normal cache. A graded submission
 * has a separate cache but can use the shared builds in the read-only cache.
 * `KERNEL_LADDER_SHARED_CACHE` sets the location.
 */
export const sharedCacheDir = (): string | null => process.env.KERNEL_LADDER_SHARED_CACHE || null
