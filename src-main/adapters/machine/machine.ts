/**
 * Where rungs are built and run: this machine, or a recording of one. What runs there reaches programs,
 * build results and files through it and nothing else, so that a machine that is reached over a network
 * is one more implementation.
 */
import type { BuildCache } from '../disk/build-cache'
import type { Assets } from '../kernels/assets'
import type { PathAlias } from '../tools/raw-files'
import type { RawRecorder, Toolbox } from '../tools/toolbox'

export interface Machine {
  /** `local`, or the name that it is known by. */
  readonly name: string
  /** Its programs; what they say is given to the recorder. */
  toolbox(recorder: RawRecorder | null): Toolbox
  /** What was built there. */
  readonly cache: BuildCache
  /** Its folders and the words that stand for them in what is kept, longer paths first. */
  readonly aliases: readonly PathAlias[]
  /** The text of one of its files; null where it cannot be read. */
  readText(path: string): Promise<string | null>
  exists(path: string): Promise<boolean>
  /** A variable of the environment that programs are started in; null where it is not set. */
  variable(name: string): string | null
}

/** Where a host keeps things for its user. */
export interface Folders {
  home: string
  /** May be deleted at any time. */
  cache: string
  sessions: string
  drafts: string
  ladders: string
  labs: string
}

/** The machine that a host runs on: programs as any other has, and the folders of its user. */
export interface HostMachine extends Machine {
  readonly folders: Folders
}

/** What a host makes once and hands down: the program's own files, and the machine that it runs on. */
export interface Setup {
  assets: Assets
  machine: HostMachine
}
