/** compute-sanitizer: one checker over one program, and what it found. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SanitizerTool } from '../../domain/session/sanitizer'
import {
  lastSanitizerWord,
  parseSanitizerSummary,
  parseSanitizerXml,
  type SanitizerSummary,
  type SanitizerXml,
} from '../../parsers/cuda/compute-sanitizer'
import { scratchFolder } from '../disk/owned-folder'
import type { ProcessResult } from './process'
import { eventLines, type RunnerEvent } from './runner'
import type { Toolbox } from './toolbox'

export interface SanitizerCall {
  sanitizer: string
  tool: SanitizerTool
  /** The program and its arguments. */
  command: readonly string[]
  /** In all; then the whole process tree is ended. */
  timeoutMs: number
  signal: AbortSignal
  /** The runner speaks through compute-sanitizer's stdout. */
  onEvent: (event: RunnerEvent) => void
}

export interface SanitizerAnswer {
  result: ProcessResult
  /** null when it wrote none. */
  xml: SanitizerXml | null
  /** null when it did not get so far. */
  summary: SanitizerSummary | null
  /** Its last own words, for when it came to no verdict. */
  lastWord: string | null
}

/** A kernel can err in every thread; a thousand reports show where, and the summary counts the rest. */
const printLimit = 1000

/** More than printLimit records take by far. */
const xmlLimitBytes = 64 * 1024 * 1024

/** `Version 2025.3.1.0 (build …)` → `2025.3.1.0`; null when it does not say. */
export const sanitizerVersionPattern = /Version\s+([\d.]+)/

export async function sanitizerVersion(
  toolbox: Toolbox,
  sanitizer: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { stdout } = await toolbox.exec({
    tool: 'compute-sanitizer',
    key: 'compute-sanitizer/version',
    file: sanitizer,
    args: ['--version'],
    timeoutMs: 60_000,
    signal,
  })
  return sanitizerVersionPattern.exec(stdout)?.[1] ?? null
}

export async function runSanitizer(
  toolbox: Toolbox,
  call: SanitizerCall,
): Promise<SanitizerAnswer> {
  const scratch = await scratchFolder()
  try {
    const saved = join(scratch.path, 'report.xml')
    const result = await toolbox.exec({
      tool: 'compute-sanitizer',
      key: `compute-sanitizer/${call.tool}`,
      file: call.sanitizer,
      args: [
        ...['--tool', call.tool, '--xml', '--save', saved],
        ...['--print-limit', String(printLimit), '--show-backtrace', 'no'],
        ...call.command,
      ],
      timeoutMs: call.timeoutMs,
      signal: call.signal,
      onStdoutLine: eventLines(call.onEvent),
    })
    const size = await stat(saved).then(
      ({ size }) => size,
      () => null,
    )
    const readable = size !== null && size <= xmlLimitBytes
    return {
      result,
      xml: readable ? parseSanitizerXml(await readFile(saved, 'utf8')) : null,
      summary: parseSanitizerSummary(result.stdout),
      lastWord: lastSanitizerWord(result.stdout),
    }
  } finally {
    await scratch.remove()
  }
}
