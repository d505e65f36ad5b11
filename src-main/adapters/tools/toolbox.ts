/**
 * Defines the interface for calling external programs. Calls run live or return recorded output.
 * Callers cannot tell the difference, so a replay uses the same parsers and decisions.
 */
import type { GpuClaim, GpuClaimCall } from './gpu-lock'
import type { ProcessCall, ProcessResult } from './process'
import type { StartEmulator } from './emulator'

/** Names of all tools. `runner` is part of this project, and `program` is a user's program. */
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
   * Key of this call in the session, such as `nvcc/05_thread_tile_2d`. Raw output is stored and
   * replayed under the call's key. A key consists of letters, digits, `_`, `-`, `.`, and one `/`.
   */
  key: string
}

/** A folder for one job on the machine that runs the tools. */
export interface Scratch {
  readonly path: string
  /**
   * Returns the text of a file that a tool wrote. Returns null if the file is missing or larger
   * than the limit.
   */
  read(name: string, mostBytes: number): Promise<string | null>
  /** Returns the text of a log of any length. The middle of a long log is removed. */
  readLog(name: string, mostBytes: number): Promise<{ text: string; whole: boolean }>
  remove(): Promise<void>
}

/** A file that a tool writes and that the session stores. */
interface ToolOutput {
  /** Path to pass to the tool. No file exists at this path yet. */
  readonly path: string
  /** Moves the file to its final location if the tool has written it. */
  take(): Promise<void>
}

export interface Toolbox {
  /**
   * Whether results come from a recording. A replay builds and runs nothing, and does not wait for
   * busy counters.
   */
  readonly replays: boolean
  /** Receives each call's output, including output that was cached in an earlier call. */
  readonly recorder: RawRecorder | null
  /**
   * Id of the process that owns the runner. When the owner exits for any reason, the runner exits
   * too. Null if the runner cannot see the process.
   */
  readonly ownerPid: number | null
  /** Index of the only GPU that the tools can see. Absent if no GPU was selected. */
  readonly gpu?: number
  /** Returns the tool's path, or null if the tool is not installed on the machine. */
  locate(tool: Exclude<ToolName, 'runner' | 'program'>): Promise<string | null>
  exec(call: ToolCall): Promise<ProcessResult>
  /**
   * Id of a rung whose host code must not run. The rung's description is executed instead. A rung
   * without a description fails.
   */
  readonly describedOnly?: string
  /** Starts an emulator. Absent if emulators run as threads of this program. */
  readonly startEmulator?: StartEmulator
  scratch(): Promise<Scratch>
  /** Returns a built file's bytes. Returns null if the file is missing or too large for a rung. */
  readBuilt(path: string): Promise<Uint8Array | null>
  /** Reserves the GPU for one run of this program. */
  claimGpu(call: GpuClaimCall): Promise<GpuClaim>
  /** Opens an output file. `keptAt` is the file's final path in the session. */
  output(keptAt: string): Promise<ToolOutput>
}

/** Data that is stored with a call in addition to its stdout and stderr. */
export interface RawCall {
  key: string
  tool: ToolName
  argv: string[]
  outcome: ProcessResult['outcome']
  exitCode: number | null
  signal: string | null
  seconds: number
  startedAt: string
  /** Whether the output comes from an earlier call with the same inputs, as for a cached build. */
  reused?: boolean
}

export interface RawRecorder {
  record(call: RawCall, stdout: string, stderr: string): Promise<void>
}
