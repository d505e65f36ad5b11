/**
 * A machine that builds and runs rungs, which is the local machine or a recording of another
 * machine.
 *
 * All access to programs, build results, and files goes through the `Machine` interface.
 */
import { type BuildCache } from '../disk/build-cache'
import { type Assets } from '../catalog/assets'
import type { PathAlias } from '../tools/raw-files'
import type { RawRecorder, Toolbox } from '../tools/toolbox'

export interface Machine {
  /** The machine's name, or `local`. */
  readonly name: string
  /** Returns the machine's programs. The recorder receives the programs' output. */
  toolbox(recorder: RawRecorder | null): Toolbox
  /** The machine's build cache. */
  readonly cache: BuildCache
  /**
   * The machine's folders, longest path first, each with the placeholder that replaces its path in
   * stored text.
   */
  readonly aliases: readonly PathAlias[]
  /** Returns the text of a file on the machine, or null if the file is unreadable. */
  readText(path: string): Promise<string | null>
  exists(path: string): Promise<boolean>
  /**
   * Returns an environment variable's value as the machine's programs see it, or null if the
   * variable is unset.
   */
  variable(name: string): string | null
}

/** Folders in which a host stores user files. */
export interface Folders {
  home: string
  config: string
  /** Cache folder. Users may delete the cache folder at any time. */
  cache: string
  sessions: string
  drafts: string
  ladders: string
  tunes: string
  labs: string
}

/** A machine on which a host runs, including the user's folders. */
export interface HostMachine extends Machine {
  readonly folders: Folders
}

/** The program's files and the local machine. Each host creates one Setup and passes it down. */
export interface Setup {
  assets: Assets
  machine: HostMachine
}

/**
 * Returns the setup. Commands call this function only when they need the setup, because locating
 * the files may require unpacking them.
 */
export type SetUp = () => Promise<Setup>
