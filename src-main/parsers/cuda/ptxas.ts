/**
 * Parses nvcc's stdout and stderr, combined in any order. The result contains ptxas's resource
 * usage per kernel (`-Xptxas -v`). The result also contains messages from the front end, host
 * compiler, ptxas, and linker, with their locations.
 *
 * Sizes are in bytes. Unknown text is skipped, and the parser never throws an error. To avoid
 * quadratic run time, patterns match a run of digits only from its start. Numbers with too many
 * digits are ignored.
 */
import type { Build, Diagnostic } from '../../domain/session/session'

export interface PtxasKernel {
  /** The kernel's mangled name, as used by the linker. */
  name: string
  /** Architecture as passed to nvcc, such as `sm_90`. */
  architecture: string
  registers: number
  staticSharedBytes: number
  /** Total size of all constant banks. 0 if ptxas reports no constant banks, as for sm_90. */
  constantBytes: number
  spillStoreBytes: number
  spillLoadBytes: number
  stackBytes: number
  barriers: number
}

interface NvccOutput {
  kernels: PtxasKernel[]
  /** Compiler messages in nvcc's order, without duplicates. */
  diagnostics: Diagnostic[]
}

const amount = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)

const total = (text: string, pattern: RegExp): number =>
  [...text.matchAll(pattern)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)

function parseKernels(lines: readonly string[]): PtxasKernel[] {
  const kernels: PtxasKernel[] = []
  let entry: { name: string; architecture: string } | null = null
  let frame = ''
  let properties: string | null = null
  for (const line of lines) {
    const compiling = /^ptxas info\s*: Compiling entry function '([^']+)' for '([^']+)'/.exec(line)
    if (compiling) {
      entry = { name: compiling[1]!, architecture: compiling[2]! }
      frame = ''
    }
    // ptxas lists the properties of a non-inlined device function in the middle of a kernel's
    // properties.
    properties = /^ptxas info\s*: Function properties for (\S+)/.exec(line)?.[1] ?? properties
    if (entry && properties === entry.name && /bytes stack frame/.test(line)) frame = line
    const used = /^ptxas info\s*: Used (\d{1,9}) registers(.*)$/.exec(line)
    if (!used || !entry) continue
    const rest = used[2]!
    kernels.push({
      ...entry,
      registers: Number(used[1]),
      staticSharedBytes: amount(rest, /(?<![\d.,])(\d{1,15})(?:\+\d{1,15})? bytes smem/),
      constantBytes: total(rest, /(?<![\d.,])(\d{1,15}) bytes cmem\[\d{1,15}\]/g),
      spillStoreBytes: amount(frame, /(?<![\d.,])(\d{1,15}) bytes spill stores/),
      spillLoadBytes: amount(frame, /(?<![\d.,])(\d{1,15}) bytes spill loads/),
      stackBytes: amount(frame, /(?<![\d.,])(\d{1,15}) bytes stack frame/),
      barriers: amount(rest, /used (\d{1,9}) barriers/),
    })
    entry = null
  }
  return kernels
}

const severities: Record<string, Diagnostic['severity']> = {
  error: 'error',
  'fatal error': 'error',
  'catastrophic error': 'error',
  'internal error': 'error',
  fatal: 'error',
  warning: 'warning',
  note: 'note',
  remark: 'note',
  info: 'note',
}

type Reader = (line: string) => Diagnostic | null

const reader =
  (
    pattern: RegExp,
    read: (groups: string[]) => Omit<Diagnostic, 'severity'> & { severity: string },
  ): Reader =>
  (line) => {
    const match = pattern.exec(line)
    if (!match) return null
    const { severity, ...rest } = read(match.slice(1).map((group) => group ?? ''))
    return { severity: severities[severity] ?? 'error', ...rest }
  }

const nowhere = { file: null, line: null }

const readers: readonly Reader[] = [
  // x.cu(12): error: …    x.cu(12): warning #177-D: …    x.cu(12): error C2065: …
  reader(
    /^(.+?)\((\d{1,9})\): ((?:catastrophic |internal )?error|warning|note|remark)(?: (?:#[\w-]+|C\d+))?: (.*)$/,
    ([file, line, severity, message]) => ({
      severity: severity!,
      file: file!,
      line: Number(line),
      message: message!,
    }),
  ),
  // At end of source: error: …
  reader(/^(At end of source): (error): (.*)$/, ([place, severity, message]) => ({
    ...nowhere,
    severity: severity!,
    message: `${place}: ${message}`,
  })),
  // x.cu:12:5: error: …
  reader(
    /^(.+?):(\d{1,9}):(?:\d{1,9}:)? ((?:fatal )?error|warning|note): (.*)$/,
    ([file, line, severity, message]) => ({
      severity: severity!,
      file: file!,
      line: Number(line),
      message: message!,
    }),
  ),
  // The PTX file that nvcc generates is temporary, so its location is dropped.
  reader(
    /^ptxas (\S+), line (\d{1,9}); (error|fatal|warning)\s*: (.*)$/,
    ([file, line, severity, message]) =>
      file!.includes('tmpxft_')
        ? {
            severity: severity!,
            ...nowhere,
            message: `${message} (line ${line} of the generated PTX)`,
          }
        : { severity: severity!, file: file!, line: Number(line), message: message! },
  ),
  reader(/^(?:ptxas|nvlink|nvcc) (error|fatal|warning)\s*: (.*)$/, ([severity, message]) => ({
    severity: severity!,
    ...nowhere,
    message: message!,
  })),
  // Keep ptxas's numbered advice: (C7511) Potential Performance Loss: wgmma … serialized
  reader(/^ptxas (info)\s*: (\(C\d+\) .*)$/, ([severity, message]) => ({
    severity: severity!,
    ...nowhere,
    message: message!,
  })),
  reader(/^(?:cc1plus|cc1|g\+\+|gcc|collect2): ((?:fatal )?error|warning): (.*)$/, (groups) => ({
    severity: groups[0]!,
    ...nowhere,
    message: groups[1]!,
  })),
  reader(/^.*(undefined reference to .*)$/, ([message]) => ({
    severity: 'error',
    ...nowhere,
    message: message!,
  })),
  reader(/^(?:\S*\/)?ld(?:\.\w+)?: (cannot find .*)$/, ([message]) => ({
    severity: 'error',
    ...nowhere,
    message: message!,
  })),
]

function readDiagnostic(line: string): Diagnostic | null {
  for (const read of readers) {
    const diagnostic = read(line)
    if (diagnostic) return diagnostic
  }
  return null
}

const isCaret = (line: string): boolean => /^[\s|]*\^[\s~^]*$/.test(line)
/**
 * Whether a line is indented like details in nvcc's messages. A quoted source line may be indented
 * in the same way.
 */
const isDetail = (line: string): boolean => /^ {10,}\S/.test(line)

function parseDiagnostics(lines: readonly string[]): Diagnostic[] {
  const found = new Map<string, Diagnostic>()
  let current: Diagnostic | null = null
  let below: string[] = []
  const finish = (): void => {
    if (!current) return
    const details = below.filter(isDetail).map((line) => line.trim())
    const diagnostic = { ...current, message: [current.message, ...details].join('; ') }
    found.set(JSON.stringify(diagnostic), diagnostic)
    current = null
  }
  for (const line of lines) {
    const diagnostic = readDiagnostic(line)
    if (diagnostic || !/^\s+\S/.test(line)) finish()
    if (diagnostic) {
      current = diagnostic
      below = []
    } else if (isCaret(line)) below.pop() // Removes the quoted source line above the caret.
    else below.push(line)
  }
  finish()
  return [...found.values()]
}

export function parseNvccOutput(output: string): NvccOutput {
  const lines = output.split(/\r?\n/)
  return { kernels: parseKernels(lines), diagnostics: parseDiagnostics(lines) }
}

/**
 * Returns each number's maximum across all kernels. If there are no kernels, as for a library call,
 * the numbers are null.
 */
export function summarizeBuild(kernels: readonly PtxasKernel[]): Omit<Build, 'seconds' | 'cached'> {
  const highest = (pick: (kernel: PtxasKernel) => number): number | null =>
    kernels.length === 0 ? null : Math.max(...kernels.map(pick))
  return {
    registersPerThread: highest(({ registers }) => registers),
    staticSharedBytes: highest(({ staticSharedBytes }) => staticSharedBytes),
    spillStoreBytes: highest(({ spillStoreBytes }) => spillStoreBytes),
    spillLoadBytes: highest(({ spillLoadBytes }) => spillLoadBytes),
  }
}
