/**
 * A machine that rungs are built and run on: this machine, or a recording of another.
 *
 * All access to programs, build results and files uses this interface.
 */
import { type BuildCache } from '../disk/build-cache'
import { type Assets } from '../catalog/assets'
import type { PathAlias } from '../tools/raw-files'
import type { RawRecorder, Toolbox } from '../tools/toolbox'

export interface Machine {
  /** The machine's name, or `local`. */
  readonly name: string
  /** Returns the machine's programs. The programs' output is passed to the recorder. */
  toolbox(recorder: RawRecorder | null): Toolbox
  /** The machine's build cache. */
  readonly cache: BuildCache
  /**
   * Folders of the machine with the placeholders that replace them in stored text. Longer paths
   * come first.
   */
  readonly aliases: readonly PathAlias[]
  /** Returns the text of a file on the machine, or null if the file is unreadable. */
  readText(path: string): Promise<string | null>
  exists(path: string): Promise<boolean>
  /** Returns an environment variable of the machine's programs, or null if it is unset. */
  variable(name: string): string | null
}

/** The folders in which a host stores user files. */
export interface Folders {
  home: string
  config: string
  /** The cache folder, which may be deleted at any time. */
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

/** The program's files and the host's machine. A host creates one Setup and passes it down. */
export interface Setup {
  assets: Assets
  machine: HostMachine
}

/**
 * Returns the setup. A command calls this when it first needs the setup, because finding the files
 * may unpack them.
 */
export type SetUp = () => Promise<Setup>
