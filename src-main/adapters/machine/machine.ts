/**
 * A machine that rungs are built and run on: this one, or a recording of one.
 *
 * It is the only access to programs, build results and files.
 */
import { type BuildCache } from '../disk/build-cache'
import { type Assets } from '../catalog/assets'
import type { PathAlias } from '../tools/raw-files'
import type { RawRecorder, Toolbox } from '../tools/toolbox'

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

/** The program's files and the host's machine, created once by a host and passed down. */
export interface Setup {
  assets: Assets
  machine: HostMachine
}

/** Called when a command first needs the setup, since finding the files may unpack them. */
export type SetUp = () => Promise<Setup>
