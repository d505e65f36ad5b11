/** Where this program stores user files, following the XDG base directory specification. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

/**
 * Returns the home directory. Throws if the user has none, as in some containers: a relative folder would depend on
 * the current directory.
 */
function home(): string {
  let found = ''
  try {
    found = homedir()
  } catch {
    // HOME is not set, and the user is not in the system's list.
  }
  if (!isAbsolute(found))
    throw new KernelLadderError('missing', message('files.noHome'), message('files.setFolders'))
  return found
}

/**
 * Returns a base folder. An empty variable counts as unset, and the specification requires ignoring relative paths.
 */
function base(own: string, xdg: string, ...fallback: string[]): string {
  const moved = process.env[own]
  if (moved) return resolve(moved)
  const shared = process.env[xdg]
  return join(shared && isAbsolute(shared) ? shared : join(home(), ...fallback), 'kernel-ladder')
}

/** User data. `KERNEL_LADDER_DATA` overrides it. */
const dataDir = (): string => base('KERNEL_LADDER_DATA', 'XDG_DATA_HOME', '.local', 'share')

/** Build results and unpacked assets; may be deleted at any time. `KERNEL_LADDER_CACHE` overrides it. */
export const cacheDir = (): string => base('KERNEL_LADDER_CACHE', 'XDG_CACHE_HOME', '.cache')

/** Files that users write. `KERNEL_LADDER_CONFIG` overrides it. */
const configDir = (): string => base('KERNEL_LADDER_CONFIG', 'XDG_CONFIG_HOME', '.config')

/** Returns the folders according to the current environment. */
export const userFolders = () => ({
  home: home(),
  /** Contains machines.yaml. */
  config: configDir(),
  cache: cacheDir(),
  sessions: join(dataDir(), 'sessions'),
  /** Edited copies of rungs. */
  drafts: join(dataDir(), 'drafts'),
  /** Lists of opened and of trusted ladder folders. */
  ladders: join(dataDir(), 'ladders'),
  /** Results of sweeps so far. */
  tunes: join(dataDir(), 'tunes'),
  /** A student's work, and the list of trusted third-party labs. */
  labs: join(dataDir(), 'labs'),
})

/**
 * A read-only cache besides the normal one. A graded submission has its own cache and finds shared builds here. Set
 * by `KERNEL_LADDER_SHARED_CACHE`.
 */
export const sharedCacheDir = (): string | null => process.env.KERNEL_LADDER_SHARED_CACHE || null
