/**
 * Converts the code in a report to deep profiles and sources. A deep profile contains advice,
 * instructions with counters, and lines with counters.
 */
import { createHash } from 'node:crypto'
import { sourceName } from '../../adapters/disk/build-cache'
import type { NameFile, ReportFile } from '../../adapters/sessions/report-file'
import { message, type Statement } from '../../domain/messages/message'
import { deepSchemaVersion, type DeepKernel, type DeepProfile } from '../../domain/session/deep'
import type { RungResult } from '../../domain/session/session'
import type { ImportedRung } from './group-launches'

export interface ImportedCode {
  deep: DeepProfile[]
  /** Source text by name in the session. */
  sources: ReadonlyMap<string, string>
  /** Source file that contains most of a rung's executed instructions, by rung id. */
  fileOf: ReadonlyMap<string, Pick<RungResult, 'file' | 'sourceHash'>>
  /** Whether the report has per-instruction counters. */
  counted: boolean
}

/**
 * Maximum number of stored instructions. Large programs have millions of instructions, and a UI can
 * show only a few.
 */
const maxInstructions = 200_000

/**
 * Returns a function that maps paths to unique names. The name is the file name, plus a number if
 * another path has the same name.
 */
function namer(): NameFile {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  return (path) => {
    const known = names.get(path)
    if (known !== undefined) return known
    const own = sourceName(path)
      .split('/')
      .map((part) => part.replaceAll(/[^A-Za-z0-9_.+-]+/g, '-').replace(/^[-.+]+/, '') || 'source')
      .join('/')
    let name = own
    for (let n = 2; taken.has(name.toLowerCase()); n += 1) name = `${n}-${own}`
    taken.add(name.toLowerCase())
    names.set(path, name)
    return name
  }
}

const duration = ({ launches }: ImportedRung): number =>
  launches.reduce((sum, { metrics }) => {
    const value = metrics['gpu__time_duration.sum']?.value
    return sum + (typeof value === 'number' ? value : 0)
  }, 0)

/**
 * Returns the file in which the most warp instructions were executed. If two files tie, returns the
 * file with more instructions.
 */
function mainFile(
  kernels: readonly DeepKernel[],
  hasText: (file: string) => boolean,
): string | null {
  const weights = new Map<string, number>()
  for (const { file, inlinedFrom, executed } of kernels.flatMap((own) => own.instructions)) {
    // Attribute inlined code to the outermost caller, which is the kernel itself.
    const outermost = inlinedFrom?.at(-1)?.file ?? file
    if (outermost !== null && hasText(outermost))
      weights.set(outermost, (weights.get(outermost) ?? 0) + (executed ?? 0) + 1e-6)
  }
  return [...weights].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

export function importCode(
  report: ReportFile,
  rungs: readonly ImportedRung[],
  name: string,
): ImportedCode {
  const nameOf = namer()
  const sources = new Map<string, string>()
  const byRung = new Map<string, DeepProfile>()
  const fileOf = new Map<string, Pick<RungResult, 'file' | 'sourceHash'>>()
  let left = maxInstructions
  let counted = false
  // Process the longest-running rungs first, so that they keep their code if the limit is reached.
  for (const rung of [...rungs].sort((a, b) => duration(b) - duration(a))) {
    const notes: Statement[] = []
    const kernels = rung.launches.flatMap((launch): DeepKernel[] => {
      const code = report.codeOf(launch, nameOf)
      if (!code) return []
      const { kernel } = code
      if (kernel.instructions.length === 0) {
        if (report.format === 'ncu-rep')
          notes.push(message('deep.noCode', { file: name, kernel: kernel.name }))
        return [kernel]
      }
      if (kernel.instructions.length > left) {
        notes.push(message('deep.codeLeftOut', { kernel: kernel.name }))
        return [{ ...kernel, instructions: [], lines: [] }]
      }
      left -= kernel.instructions.length
      counted ||= kernel.instructions.some(({ executed }) => executed !== null)
      for (const { path, text } of code.sources) sources.set(nameOf(path), text)
      notes.push(...code.unknown)
      if (kernel.lines.length === 0) notes.push(message('deep.noLines', { kernel: kernel.name }))
      return [kernel]
    })
    const isEmpty = kernels.every(
      ({ instructions, rules }) => instructions.length === 0 && rules.length === 0,
    )
    if (isEmpty && report.format !== 'details-csv') continue
    if (kernels.length === 0) continue
    if (report.format === 'details-csv') notes.push(message('deep.adviceAlone', { file: name }))
    byRung.set(rung.id, { schema: deepSchemaVersion, rung: rung.id, kernels, notes })
    const file = mainFile(kernels, (own) => sources.has(own))
    if (file !== null) fileOf.set(rung.id, { file, sourceHash: sha256(sources.get(file)!) })
  }
  return {
    deep: rungs.flatMap(({ id }) => byRung.get(id) ?? []),
    sources,
    fileOf,
    counted,
  }
}
