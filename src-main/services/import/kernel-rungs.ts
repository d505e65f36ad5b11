/** Kernels as the rungs of a session, ordered and named from the launches of a report. */
import { createHash } from 'node:crypto'
import { sourceName } from '../../adapters/disk/build-cache'
import {
  type NameFile,
  type ReportFile,
  type ReportLaunch,
  profileLaunches,
} from '../../adapters/sessions/report-file'
import { message, type Statement } from '../../domain/messages/message'
import { deepSchemaVersion, type DeepKernel, type DeepProfile } from '../../domain/session/deep'
import type { RungResult } from '../../domain/session/session'
import { inputError } from '../../domain/errors'
import { distinctTitles, parseKernelName } from '../../domain/programs/choose'
import type { Ladder } from '../../domain/ladder/ladder'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { instructionsOf } from '../../domain/session/registry-figures'

// The code in a report as deep profiles and sources of a session: advice, instructions and lines with their counters.

export interface ImportedCode {
  deep: DeepProfile[]
  /** Texts by their names in the session. */
  sources: ReadonlyMap<string, string>
  /** By rung id, the file that most of its work is in. */
  fileOf: ReadonlyMap<string, Pick<RungResult, 'file' | 'sourceHash'>>
  /** Whether there are counters per instruction. */
  counted: boolean
}

/** A report of a large program has millions of instructions, of which a UI can show few and a session should hold no more. */
const maxInstructions = 200_000

/** A name for each path: the file's own, with a number if another path has taken it. */
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

/** The file that most warp instructions were executed in; of equal ones, the one with most instructions. */
function mainFile(
  kernels: readonly DeepKernel[],
  hasText: (file: string) => boolean,
): string | null {
  const weights = new Map<string, number>()
  for (const { file, inlinedFrom, executed } of kernels.flatMap((own) => own.instructions)) {
    // Inlined code belongs to the outermost caller: the kernel itself.
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
  // The hottest first, so that they have their code where not all of it is kept.
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

// Turns the launches of a report into an ordered, named ladder.

export interface ImportedRung {
  id: string
  title: string
  launches: ReportLaunch[]
}

export interface Arrangement {
  /** Ids of the rungs to keep, in order; by default all. */
  order?: readonly string[]
  /** New names by id. */
  names?: ReadonlyMap<string, string>
}

/** One rung per run of launches in the same NVTX range, else one rung per launch. */
export function groupLaunches(launches: readonly ReportLaunch[]): ImportedRung[] {
  const groups: ReportLaunch[][] = []
  for (const launch of launches) {
    const last = groups.at(-1)
    if (last && launch.rung !== null && last[0]?.rung === launch.rung) last.push(launch)
    else groups.push([launch])
  }
  const taken = new Set<string>()
  const titles = distinctTitles(
    groups.map(([launch]) => ({ ...launch!, name: launch!.kernelName })),
  )
  return groups.map((own, index) => {
    const [{ rung, kernelName }] = own as [ReportLaunch]
    const id =
      rung === null
        ? kernelId(kernelName, index, groups.length, taken)
        : uniqueId(rung, numberOf(index, groups.length), taken)
    return { id, title: clip(rung ?? titles[index]!), launches: own }
  })
}

const numberOf = (index: number, count: number): string =>
  String(index).padStart(Math.max(2, String(count - 1).length), '0')

/** `03_tile`: a kernel by its place among so many and its function. */
export function kernelId(name: string, index: number, count: number, taken: Set<string>): string {
  const number = numberOf(index, count)
  return uniqueId(`${number}_${parseKernelName(name).base}`, number, taken)
}

export function arrange(
  rungs: readonly ImportedRung[],
  { order, names }: Arrangement,
): ImportedRung[] {
  const find = (id: string): ImportedRung => {
    const found = rungs.find((rung) => rung.id === id)
    if (found) return found
    const known = rungs.slice(0, 20).map((rung) => rung.id)
    throw inputError(
      `The file has no kernel or range with the imported id ${JSON.stringify(id)}.`,
      `It has: ${known.join(', ')}${rungs.length > 20 ? `, and ${rungs.length - 20} more` : ''}.`,
    )
  }
  const chosen = order?.map(find) ?? [...rungs]
  const twice = chosen.find((rung, index) => chosen.indexOf(rung) !== index)
  if (twice) throw inputError(`--order lists ${twice.id} more than once.`, 'List each rung once.')
  for (const id of names?.keys() ?? [])
    if (!chosen.includes(find(id)))
      throw inputError(`--name renames ${id}, which --order omits.`, 'Add it to --order.')

  // Unchanged names are kept; on a collision, the new name is altered.
  const taken = new Set(chosen.flatMap(({ id }) => (names?.has(id) ? [] : [id.toLowerCase()])))
  return chosen.map((rung, index) => {
    const title = names?.get(rung.id)
    if (title === undefined) return rung
    return { ...rung, id: uniqueId(title, String(index), taken), title: clip(title) }
  })
}

const clip = (text: string): string => (text.length > 160 ? `${text.slice(0, 159)}…` : text)

/** A valid Identifier; ids that differ only in case are also distinguished, because they may become file names. */
function uniqueId(text: string, fallback: string, taken: Set<string>): string {
  const base =
    text
      .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .replace(/[-.]+$/, '')
      .slice(0, 70) || `kernel-${fallback}`
  let id = base
  for (let n = 2; taken.has(id.toLowerCase()); n += 1) id = `${base}-${n}`
  taken.add(id.toLowerCase())
  return id
}

// Kernels as the rungs of a session: nothing of them was built, verified or timed by a runner.

export function kernelLadder(
  { id, title, summary }: Pick<Ladder, 'id' | 'title' | 'summary'>,
  rungs: readonly Pick<ImportedRung, 'id' | 'title'>[],
  { fileOf }: ImportedCode,
): Ladder {
  return {
    id,
    title,
    summary,
    task: null,
    scalars: {},
    options: {},
    sizes: [],
    reference: null,
    rungs: rungs.map((rung) => ({
      id: rung.id,
      title: rung.title,
      header: {
        id: rung.id,
        title: rung.title,
        after: null,
        idea: summary,
        expect: [],
        params: [],
        options: {},
        flags: [],
        requires: null,
      },
      params: {},
      file: fileOf.get(rung.id)?.file ?? '',
    })),
  }
}

export const kernelResult = (
  { id, title, launches }: ImportedRung,
  { fileOf, deep }: ImportedCode,
  level: ProfileLevel,
): RungResult => ({
  id,
  title,
  after: null,
  idea: '',
  expect: [],
  flags: [],
  params: {},
  file: '',
  sourceHash: '',
  ...fileOf.get(id),
  status: 'ok',
  diagnostics: [],
  build: null,
  verify: null,
  timing: null,
  ...profileLaunches(launches, level, instructionsOf(deep.find(({ rung }) => rung === id))),
})
