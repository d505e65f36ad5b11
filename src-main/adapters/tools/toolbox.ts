/**
 * The outside programs, behind one interface: run for real, or answered from a recording. What calls
 * them cannot tell the difference, so a replay goes through the same parsers and the same decisions.
 */
import type { GpuClaim, GpuClaimCall } from './gpu-lock'
import type { ProcessCall, ProcessResult } from './process'

export const toolNames = ['nvcc', 'runner', 'ncu', 'nvidia-smi', 'compute-sanitizer'] as const
export type ToolName = (typeof toolNames)[number]

export interface ToolCall extends ProcessCall {
  tool: ToolName
  /**
   * Names this call in the session, `nvcc/05_thread_tile_2d` say: its raw output is kept, and found
   * again by a replay, under it. Letters, digits, `_`, `-`, `.` and one `/`.
   */
  key: string
}

/** A folder where the tools run, of one piece of work alone. */
export interface Scratch {
  readonly path: string
  /** The text of a file that a tool has left in it; null for none, and for one of more bytes. */
  read(name: string, mostBytes: number): Promise<string | null>
  remove(): Promise<void>
}

/** A file that a tool writes where it runs, and that we keep. */
export interface ToolOutput {
  /** What the tool is told; nothing is there before. */
  readonly path: string
  /** Brings it to where it is kept, if the tool has written it. */
  take(): Promise<void>
}

export interface Toolbox {
  /** Answers are those of a recording: nothing is built or run, and there is nothing to wait for. */
  readonly replays: boolean
  /** Is given what each call said; also for what a cache has kept of an earlier call. */
  readonly recorder: RawRecorder | null
  /** The process that the runner ends with, however that ends; null where the runner cannot see it. */
  readonly ownerPid: number | null
  /** The program's path, or null when it is not on this machine. */
  locate(tool: Exclude<ToolName, 'runner'>): Promise<string | null>
  exec(call: ToolCall): Promise<ProcessResult>
  scratch(): Promise<Scratch>
  /** Takes the GPU for one run of this program alone. */
  claimGpu(call: GpuClaimCall): Promise<GpuClaim>
  /** `keptAt`: where the file is to lie with the session. */
  output(keptAt: string): Promise<ToolOutput>
}

/** What is kept of a call, beside its two output texts. */
export interface RawCall {
  key: string
  tool: ToolName
  argv: string[]
  outcome: ProcessResult['outcome']
  exitCode: number | null
  signal: string | null
  seconds: number
  startedAt: string
  /** The output was kept from an earlier call whose inputs were the same (a cached build). */
  reused?: boolean
}

export interface RawRecorder {
  record(call: RawCall, stdout: string, stderr: string): Promise<void>
}
