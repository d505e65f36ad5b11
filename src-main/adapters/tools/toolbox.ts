/**
 * The outside programs, behind one interface: run for real, or answered from a recording. What calls
 * them cannot tell the difference, so a replay goes through the same parsers and the same decisions.
 */
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

export interface Toolbox {
  readonly kind: 'live' | 'recorded'
  /** The program's path, or null when it is not on this machine. */
  locate(tool: Exclude<ToolName, 'runner'>): Promise<string | null>
  exec(call: ToolCall): Promise<ProcessResult>
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
