/**
 * External programs behind one interface: run live, or answered from a recording. Callers cannot tell the
 * difference, so a replay goes through the same parsers and the same decisions.
 */
import type { GpuClaim, GpuClaimCall } from './gpu-lock'
import type { ProcessCall, ProcessResult } from './process'
import type { StartEmulator } from './emulator'

/** `runner` is this program's own, and `program` one of the user's. */
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
   * Identifies this call in the session, such as `nvcc/05_thread_tile_2d`: its raw output is stored under this key and
   * found again by a replay. Letters, digits, `_`, `-`, `.` and one `/`.
   */
  key: string
}

/** A folder where the tools run, for one job. */
export interface Scratch {
  readonly path: string
  /** The text of a file that a tool left in it; null if there is none, or if it is larger. */
  read(name: string, mostBytes: number): Promise<string | null>
  /** The same of a log, which may be as long as a program's user lets it become: what is beyond is left out of its middle. */
  readLog(name: string, mostBytes: number): Promise<{ text: string; whole: boolean }>
  remove(): Promise<void>
}

/** A file that a tool writes where it runs and that is kept. */
interface ToolOutput {
  /** The path passed to the tool; nothing exists there yet. */
  readonly path: string
  /** Moves it to its final place, if the tool has written it. */
  take(): Promise<void>
}

export interface Toolbox {
  /** Answers come from a recording: nothing is built or run, and there is nothing to wait for. */
  readonly replays: boolean
  /** Receives the output of each call, including output that a cache kept from an earlier call. */
  readonly recorder: RawRecorder | null
  /** The runner exits when this process is gone for any reason; null if the runner cannot see it. */
  readonly ownerPid: number | null
  /** The number of the only GPU that its programs see; absent if none was chosen. */
  readonly gpu?: number
  /** The program's path, or null if it is not on this machine. */
  locate(tool: Exclude<ToolName, 'runner' | 'program'>): Promise<string | null>
  exec(call: ToolCall): Promise<ProcessResult>
  /** The rung of which only the description of its host code is executed: without one, it has failed. */
  readonly describedOnly?: string
  /** Starts an emulator; absent if emulators are threads of this program. */
  readonly startEmulator?: StartEmulator
  scratch(): Promise<Scratch>
  /** The bytes of what a tool built; null if there are none, or too many to be a rung's. */
  readBuilt(path: string): Promise<Uint8Array | null>
  /** Reserves the GPU for one run of this program. */
  claimGpu(call: GpuClaimCall): Promise<GpuClaim>
  /** `keptAt`: the file's final place in the session. */
  output(keptAt: string): Promise<ToolOutput>
}

/** What is stored for a call, in addition to its two output texts. */
export interface RawCall {
  key: string
  tool: ToolName
  argv: string[]
  outcome: ProcessResult['outcome']
  exitCode: number | null
  signal: string | null
  seconds: number
  startedAt: string
  /** The output was kept from an earlier call with the same inputs (a cached build). */
  reused?: boolean
}

export interface RawRecorder {
  record(call: RawCall, stdout: string, stderr: string): Promise<void>
}
