/**
 * External programs behind one interface: run live, or answered from a recording. Callers cannot tell the difference,
 * so a replay uses the same parsers and decisions.
 */
import type { GpuClaim, GpuClaimCall } from './gpu-lock'
import type { ProcessCall, ProcessResult } from './process'
import type { StartEmulator } from './emulator'

/** `runner` is this program's own; `program` is a user's. */
export const toolNames = [
  'nvcc',
  'runner',
  'ncu',
  'nvidia-smi',
  'compute-sanitizer',
  'program',
] as const
export type ToolName = (typeof toolNames)[number]

export interface ToolCall extends ProcessCall {
  tool: ToolName
  /**
   * Identifies this call in the session, such as `nvcc/05_thread_tile_2d`. Its raw output is stored under this key,
   * and a replay finds it there. Letters, digits, `_`, `-`, `.` and one `/`.
   */
  key: string
}

/** A folder for one job, on the machine where the tools run. */
export interface Scratch {
  readonly path: string
  /** Returns the text of a file that a tool left; null if there is none, or if it is larger. */
  read(name: string, mostBytes: number): Promise<string | null>
  /** Returns the text of a log of any length; an excess is cut from its middle. */
  readLog(name: string, mostBytes: number): Promise<{ text: string; whole: boolean }>
  remove(): Promise<void>
}

/** A file that a tool writes on its machine and that is kept. */
interface ToolOutput {
  /** The path passed to the tool; nothing exists there yet. */
  readonly path: string
  /** Moves the file to its final place, if the tool has written it. */
  take(): Promise<void>
}

export interface Toolbox {
  /** Whether answers come from a recording: nothing is built or run, and there is nothing to wait for. */
  readonly replays: boolean
  /** Receives the output of each call, including output that a cache kept from an earlier call. */
  readonly recorder: RawRecorder | null
  /** The runner exits when this process ends for any reason; null if the runner cannot see it. */
  readonly ownerPid: number | null
  /** The index of the only GPU that its programs see; absent if none was chosen. */
  readonly gpu?: number
  /** Returns the program's path, or null if it is not on this machine. */
  locate(tool: Exclude<ToolName, 'runner' | 'program'>): Promise<string | null>
  exec(call: ToolCall): Promise<ProcessResult>
  /**
   * The rung of which only the described work is executed, not its host code. Without a description it has failed.
   */
  readonly describedOnly?: string
  /** Starts an emulator; absent if emulators are threads of this program. */
  readonly startEmulator?: StartEmulator
  scratch(): Promise<Scratch>
  /** Returns the bytes of a built file; null if there are none, or too many for a rung. */
  readBuilt(path: string): Promise<Uint8Array | null>
  /** Reserves the GPU for one run of this program. */
  claimGpu(call: GpuClaimCall): Promise<GpuClaim>
  /** Opens an output. `keptAt`: the file's final place in the session. */
  output(keptAt: string): Promise<ToolOutput>
}

/** What is stored for a call, besides its two output texts. */
export interface RawCall {
  key: string
  tool: ToolName
  argv: string[]
  outcome: ProcessResult['outcome']
  exitCode: number | null
  signal: string | null
  seconds: number
  startedAt: string
  /** Whether the output was kept from an earlier call with the same inputs (a cached build). */
  reused?: boolean
}

export interface RawRecorder {
  record(call: RawCall, stdout: string, stderr: string): Promise<void>
}
