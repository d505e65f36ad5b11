/**
 * Reads a launch's code-level data from an ncu report. The data consists of counters per
 * instruction and source line, ncu's advice, and the sources.
 */
import type {
  DeepKernel,
  Instruction,
  Place,
  Rule,
  SourceLine,
  StallSamples,
  Work,
} from '../../domain/session/deep'
import type { Statement } from '../../domain/messages/message'
import { readCubin } from '../cubin/cubin'
import type { MessageOf } from './ncu-rep-messages'
import { listingOf, type Listing } from '../../domain/sass/listing'

export interface LaunchCode {
  kernel: DeepKernel
  /**
   * Source files that contain lines of the kernel. Empty unless the report includes the sources.
   */
  sources: { path: string; text: string }[]
  /** Notes about unknown instructions. */
  unknown: Statement[]
}

type Counter = Exclude<keyof Work, 'stalls' | 'samples' | 'notIssuedSamples'>

const counters: Record<Counter, string> = {
  executed: 'inst_executed',
  threadExecuted: 'thread_inst_executed',
  sharedWavefronts: 'memory_l1_wavefronts_shared',
  sharedWavefrontsIdeal: 'memory_l1_wavefronts_shared_ideal',
  sharedWavefrontsExcess: 'derived__memory_l1_wavefronts_shared_excessive',
  globalL1Requests: 'memory_l1_tag_requests_global',
  globalL2Sectors: 'memory_l2_theoretical_sectors_global',
  globalL2SectorsIdeal: 'memory_l2_theoretical_sectors_global_ideal',
  globalL2SectorsExcess: 'derived__memory_l2_theoretical_sectors_global_excessive',
}

const stallPrefix = 'smsp__pcsamp_warps_issue_stalled_'
const notIssuedSuffix = '_not_issued'
/** Full names of the stall reasons that the source page abbreviates. */
const reasons: Record<string, string> = {
  dispatch_stall: 'dispatch',
  imc_miss: 'imc',
  lg_throttle: 'lg',
  long_scoreboard: 'long_sb',
  math_pipe_throttle: 'math',
  mio_throttle: 'mio',
  no_instructions: 'no_inst',
  short_scoreboard: 'short_sb',
  sleeping: 'sleep',
  tex_throttle: 'tex',
  warpgroup_arrive: 'gmma',
}

const kinds: Record<number, Rule['kind']> = { 2: 'warning', 3: 'error', 4: 'optimization' }
const speedupTypes: Record<number, Rule['speedupType']> = { 1: 'local', 2: 'global' }

/**
 * Replaces `@section:SourceCounters:Warp Stall Sampling@` with its label, and `@url:label:address@`
 * with `label (address)`.
 */
const withoutLinks = (text: string): string =>
  text
    .replaceAll(/@url:([^@]*?):(https?:[^@]*)@/g, '$1 ($2)')
    .replaceAll(/@(?:section|metric|source):[^:@]*:([^@]*)@/g, '$1')

const rulesOf = (results: MessageOf<'Detailed'>['rules']): Rule[] =>
  results.flatMap(({ name, section, body }) =>
    (body?.items ?? []).flatMap(({ message, speedup }): Rule[] =>
      message?.text
        ? [
            {
              section,
              name,
              kind: kinds[message.kind] ?? 'info',
              text: withoutLinks(message.text),
              estimatedSpeedup: speedup?.percent ?? null,
              speedupType: speedup ? (speedupTypes[speedup.type] ?? null) : null,
            },
          ]
        : [],
    ),
  )

/** Counter values by instruction offset. Null if the report does not contain the counter. */
type ByOffset = ReadonlyMap<number, number> | null

const figureOf = (value: MessageOf<'Value'> | undefined): number => {
  const figure = Number(value?.choice.value ?? 0)
  return Number.isFinite(figure) ? Math.max(figure, 0) : NaN
}

interface Instances {
  counter(name: string): ByOffset
  stalls: readonly (readonly [reason: string, counts: ReadonlyMap<number, number>])[]
  notIssued: readonly ReadonlyMap<number, number>[]
  /**
   * Kind of samples that the stall reasons count. Before version 2025.4, ncu counts all samples. If
   * only the counters for not-issued samples exist, the stall reasons count samples in which no
   * instruction was issued.
   */
  stallSamples: StallSamples | null
}

function instancesOf(
  metrics: MessageOf<'Detailed'>['metrics'],
  nameOf: (index: number) => string | undefined,
  base: number,
): Instances {
  const wanted = new Set(Object.values(counters))
  const found = new Map<string, ReadonlyMap<number, number>>()
  const stalls: [string, ReadonlyMap<number, number>][] = []
  const notIssued: [string, ReadonlyMap<number, number>][] = []
  for (const { name: index, instances } of metrics) {
    const name = nameOf(index) ?? ''
    if (!wanted.has(name) && !name.startsWith(stallPrefix)) continue
    const figures = new Map(
      instances.map(({ of, value }) => [Number(of?.choice.value ?? 0) - base, figureOf(value)]),
    )
    if (wanted.has(name)) found.set(name, figures)
    else {
      const isNotIssued = name.endsWith(notIssuedSuffix)
      const reason = name.slice(
        stallPrefix.length,
        isNotIssued ? -notIssuedSuffix.length : undefined,
      )
      const list = isNotIssued ? notIssued : stalls
      list.push([reasons[reason] ?? reason, figures])
    }
  }
  return {
    counter: (name) => found.get(name) ?? null,
    stalls: stalls.length > 0 ? stalls : notIssued,
    notIssued: notIssued.map(([, figures]) => figures),
    stallSamples: stalls.length > 0 ? 'all' : notIssued.length > 0 ? 'notIssued' : null,
  }
}

/** Converts NaN to null, because a missing value is different from 0. */
const orNull = (figure: number): number | null => (Number.isNaN(figure) ? null : figure)

function workAt(offset: number, { counter, stalls, notIssued, stallSamples }: Instances): Work {
  const counts = Object.fromEntries(
    Object.entries(counters).map(([key, name]) => [
      key,
      counter(name) && orNull(counter(name)!.get(offset) ?? 0),
    ]),
  ) as Record<Counter, number | null>
  const sampled = stalls.flatMap(([reason, figures]): [string, number][] => {
    const count = figures.get(offset) ?? 0
    return count > 0 ? [[reason, count]] : []
  })
  const isSampled = stalls.length > 0
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
  return {
    ...counts,
    samples: stallSamples === 'all' ? sum(sampled.map(([, count]) => count)) : null,
    notIssuedSamples: isSampled
      ? orNull(sum(notIssued.map((figures) => figures.get(offset) ?? 0)))
      : null,
    stalls: isSampled ? Object.fromEntries(sampled) : null,
  }
}

const add = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : a + b

const summed = [...Object.keys(counters), 'samples', 'notIssuedSamples'] as Exclude<
  keyof Work,
  'stalls'
>[]

function sumWork(a: Work, b: Work): Work {
  const stalls = { ...a.stalls }
  for (const [reason, count] of Object.entries(b.stalls ?? {}))
    stalls[reason] = (stalls[reason] ?? 0) + count
  return {
    ...(Object.fromEntries(summed.map((key) => [key, add(a[key], b[key])])) as Omit<
      Work,
      'stalls'
    >),
    stalls: a.stalls || b.stalls ? stalls : null,
  }
}

function linesOf(
  instructions: readonly { places: readonly Place[]; work: Work }[],
  textOf: (place: Place) => string | null,
): SourceLine[] {
  const lines = new Map<string, SourceLine>()
  for (const { places, work } of instructions)
    // For a recursive function, an instruction can list the same line twice.
    for (const place of new Map(places.map((own) => [`${own.line}:${own.file}`, own])).values()) {
      const key = `${place.line}:${place.file}`
      const known = lines.get(key)
      lines.set(
        key,
        known ? { ...known, ...sumWork(known, work) } : { ...place, text: textOf(place), ...work },
      )
    }
  return [...lines.values()].sort((a, b) =>
    a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1,
  )
}

/**
 * Returns the kernel's instructions in the cubin. Returns null if the cubin does not contain the
 * kernel or is unreadable.
 */
function listingIn(
  cubin: Uint8Array,
  name: string,
  nameOf: (path: string) => string,
): Listing | null {
  try {
    const { kernels, architecture } = readCubin(cubin)
    const kernel = kernels.find((own) => own.name === name)
    return kernel ? listingOf(kernel, architecture, nameOf) : null
  } catch {
    // Ignore machine code that is damaged or built for another GPU. The launch's counter values are
    // usable without the machine code.
    return null
  }
}

interface CodeParts {
  name: string
  detailed: MessageOf<'Detailed'>
  /** The launch's machine code, or null if the report does not contain it. */
  source: MessageOf<'Source'> | null
  metricName: (index: number) => string | undefined
  /** Maps the path that the compiler recorded to the file's name in the session. */
  nameOf: (path: string) => string
}

export function launchCode({ name, detailed, source, metricName, nameOf }: CodeParts): LaunchCode {
  const rules = rulesOf(detailed.rules)
  const code = source && listingIn(source.cubin, detailed.mangledName, nameOf)
  const none = { name, instructions: [], lines: [], opcodes: null, rules }
  if (!code) return { kernel: none, sources: [], unknown: [] }
  const base = Number(
    source.functions?.entries.find((own) => own.name === detailed.mangledName)?.address ?? 0n,
  )
  const instances = instancesOf(detailed.metrics, metricName, base)
  const files = new Map(
    (source.files?.entries ?? []).map(({ path, text }) => [nameOf(path), { path, text }]),
  )
  const texts = new Map([...files].map(([file, { text }]) => [file, text.split(/\r?\n/)]))
  const rows = code.instructions.map((listed) => ({
    ...listed,
    work: workAt(listed.offset, instances),
  }))
  const instructions = rows.map(({ offset, text, opcode, places, work }, index): Instruction => {
    const [place, ...further] = places
    return {
      index,
      offset,
      text,
      opcode,
      file: place?.file ?? null,
      line: place?.line ?? null,
      ...(further.length > 0 ? { inlinedFrom: further } : {}),
      ...work,
    }
  })
  const used = new Set(rows.flatMap(({ places }) => places.map(({ file }) => file)))
  return {
    kernel: {
      name,
      instructions,
      lines: linesOf(rows, ({ file, line }) => texts.get(file)?.[line - 1]?.trim() ?? null),
      opcodes: opcodesOf(instructions, detailed, metricName),
      rules,
      ...(instances.stallSamples ? { stallSamples: instances.stallSamples } : {}),
    },
    sources: [...files].flatMap(([file, source]) => (used.has(file) ? [source] : [])),
    unknown: code.unknown,
  }
}

/**
 * Returns instruction counts by opcode. Uses ncu's own counts if available, and otherwise sums the
 * instructions' counts.
 */
function opcodesOf(
  instructions: readonly Instruction[],
  { metrics }: MessageOf<'Detailed'>,
  metricName: CodeParts['metricName'],
): Record<string, number> | null {
  const counted = metrics.find(
    ({ name }) => metricName(name) === 'sass__inst_executed_per_opcode_with_modifier_all',
  )
  const instances = counted?.instances.map(
    ({ of, value }) => [String(of?.choice.value ?? ''), figureOf(value)] as const,
  )
  if (instances && instances.length > 0 && instances.every(([, count]) => !Number.isNaN(count)))
    return Object.fromEntries(instances)
  const opcodes: Record<string, number> = {}
  for (const { opcode, executed } of instructions) {
    if (executed === null) return null
    if (executed > 0) opcodes[opcode] = (opcodes[opcode] ?? 0) + executed
  }
  return opcodes
}
