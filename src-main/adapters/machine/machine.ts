/**
 * Where rungs are built and run: this machine, or a recording of one. Programs, build results and files are
 * accessed only through it, so that a remote machine is just another implementation.
 */
import { readFile } from 'node:fs/promises'
import { homedir, hostname, tmpdir, userInfo } from 'node:os'
import { type BuildCache, diskBuildCache, emptyBuildCache } from '../disk/build-cache'
import { type Assets, assets } from '../kernels/assets'
import type { PathAlias } from '../tools/raw-files'
import type { RawRecorder, Toolbox } from '../tools/toolbox'
import { pathExists } from '../disk/disk'
import { userFolders } from '../disk/paths'
import { liveToolbox, recordedToolbox } from '../tools/toolboxes'

export interface Machine {
  /** `local`, or the machine's name. */
  readonly name: string
  /** Its programs; their output is passed to the recorder. */
  toolbox(recorder: RawRecorder | null): Toolbox
  /** Its build cache. */
  readonly cache: BuildCache
  /** Its folders and their placeholders in stored text, longer paths first. */
  readonly aliases: readonly PathAlias[]
  /** The text of one of its files; null if it cannot be read. */
  readText(path: string): Promise<string | null>
  exists(path: string): Promise<boolean>
  /** An environment variable of its programs; null if unset. */
  variable(name: string): string | null
}

/** Where a host stores user files. */
export interface Folders {
  home: string
  config: string
  /** May be deleted at any time. */
  cache: string
  sessions: string
  drafts: string
  ladders: string
  tunes: string
  labs: string
}

/** The machine that a host runs on, with the user's folders. */
export interface HostMachine extends Machine {
  readonly folders: Folders
}

/** Created once by a host and passed down: the program's files and the host's machine. */
export interface Setup {
  assets: Assets
  machine: HostMachine
}

/** Called when a command first needs it: finding the files may unpack them. */
export type SetUp = () => Promise<Setup>

// The machine that this program runs on.

export function localMachine(): HostMachine {
  const folders = userFolders()
  return {
    name: 'local',
    toolbox: liveToolbox,
    cache: diskBuildCache(folders.cache),
    aliases: [
      { path: folders.cache, alias: '<cache>' },
      { path: folders.home, alias: '~' },
    ],
    readText: (path) => readFile(path, 'utf8').catch(() => null),
    exists: pathExists,
    variable: (name) => process.env[name] ?? null,
    folders,
  }
}

/** The setup of every host. */
export const setUp: SetUp = async () => ({
  assets: await assets(),
  machine: localMachine(),
})

// The machine of a recording: its tools repeat their recorded output, and nothing is on disk.

export const recordedMachine = (name: string, folder: string): Machine => ({
  name,
  toolbox: () => recordedToolbox(folder),
  cache: emptyBuildCache,
  aliases: [],
  readText: () => Promise.resolve(null),
  exists: () => Promise.resolve(false),
  variable: () => null,
})

// What identifies this machine and its user; a session may have been made here, and a report reveals neither.

export interface Privates {
  folders: readonly string[]
  words: readonly string[]
}

export function machinePrivates(): Privates {
  const name = hostname()
  const [short = ''] = name.split('.')
  let user = ''
  try {
    user = userInfo().username
  } catch {
    // A container may run with a user id that has no name.
  }
  return { folders: [homedir(), tmpdir()], words: [name, short, user] }
}
