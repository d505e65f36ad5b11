/** Converts an ncu report's pages to one deep profile per rung. */
import { message, type Statement } from '../../domain/messages/message'
import {
  deepSchemaVersion,
  type DeepKernel,
  type DeepProfile,
  type DeepProfiles,
  type Instruction,
  type Place,
  type Rule,
  type SourceLine,
} from '../../domain/session/deep'
import { type Counted, listedInAll } from '../../domain/session/registry-figures'
import type { NcuLaunch } from './ncu-csv'
import { unreadableNotes, type SassRow, type SourcePage, type SourceSection } from './ncu-source'
import { withoutCasts } from '../../domain/programs/kernel-names'

interface DeepPages {
  /**
   * The SASS view: every instruction of every kernel, including kernels without line information.
   */
  sass: SourcePage
  /**
   * The source view, which lists lines with their instructions. The source view contains only
   * kernels with line information.
   */
  lines: SourcePage
  /** Advice, keyed by ncu launch id. */
  rules: ReadonlyMap<number, Rule[]>
  /** Maps the path that the compiler recorded to the file's name in the session. */
  nameOf: (path: string) => string
}

type Launch = Pick<NcuLaunch, 'id' | 'kernelName' | 'rung'>

/**
 * Normalizes a kernel name. The source page contains `void tile<(int)32>(float *)` where the table
 * contains `void tile<32>(float *)`. The source page may omit the return type of a template.
 */
const plainName = (name: string): string =>
  withoutCasts(name)
    .replace(/^(?:void|static|inline) /, '')
    .replaceAll(/\s+/g, '')

/**
 * Assigns the sections of the source page to launches. Sections and launches are in launch order.
 *
 * If a launch's instructions belong to several files, it has several consecutive sections. A launch
 * that is not on the page has no section. Variants compiled from the same source have the same
 * kernel name, so `isCodeOf` compares their code.
 */
function assignSections(
  launches: readonly Launch[],
  { sections }: SourcePage,
  isCodeOf: (launch: Launch, section: SourceSection) => boolean = () => true,
): Map<number, SourceSection[]> {
  const assigned = new Map<number, SourceSection[]>()
  let at = -1
  for (const section of sections) {
    const name = plainName(section.kernelName)
    const isSameKernel = (launch: Launch): boolean =>
      plainName(launch.kernelName) === name && isCodeOf(launch, section)
    const own = at < 0 ? undefined : assigned.get(launches[at]!.id)
    const goesOn =
      own !== undefined &&
      isSameKernel(launches[at]!) &&
      section.file !== null &&
      !own.some(({ file }) => file === section.file)
    if (goesOn) {
      own.push(section)
      continue
    }
    const next = launches.findIndex((launch, index) => index > at && isSameKernel(launch))
    if (next < 0) continue
    at = next
    assigned.set(launches[at]!.id, [section])
  }
  return assigned
}

/**
 * Whether a section and a launch share an instruction address, according to the SASS view. A kernel
 * with a single launch needs no comparison.
 */
function sharesAddresses(
  launches: readonly Launch[],
  sass: ReadonlyMap<number, readonly SourceSection[]>,
): (launch: Launch, section: SourceSection) => boolean {
  const names = launches.map(({ kernelName }) => plainName(kernelName))
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  const addresses = new Map<number, Set<number>>()
  const addressesOf = (id: number): Set<number> | null => {
    const sections = sass.get(id)
    if (!sections) return null
    const known =
      addresses.get(id) ??
      new Set(sections.flatMap(({ instructions }) => instructions.map(({ address }) => address)))
    addresses.set(id, known)
    return known
  }
  return ({ id, kernelName }, section) => {
    if (!twice.has(plainName(kernelName))) return true
    const own = addressesOf(id)
    const { instructions } = section
    return !own || instructions.length === 0 || instructions.some(({ address }) => own.has(address))
  }
}

/**
 * Converts absolute branch targets to offsets by subtracting the load address. For example, `@!P0
 * BRA 0x7f67037a2ee0` becomes `@!P0 BRA 0x8e0`.
 */
function relativeText(text: string, base: number, end: number): string {
  return text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/0x[0-9a-f]{6,16}/g, (word) => {
      const target = Number.parseInt(word, 16)
      return target >= base && target <= end ? `0x${(target - base).toString(16)}` : word
    })
}

const opcodeOf = (text: string): string => text.replace(/^@!?\w+\s+/, '').split(/[\s;,]/)[0] ?? text

function toInstructions(
  rows: readonly SassRow[],
  places: ReadonlyMap<number, Place[]>,
): Instruction[] {
  const sorted = [...rows].sort((a, b) => a.address - b.address)
  const base = sorted[0]?.address ?? 0
  const end = sorted.at(-1)?.address ?? 0
  return sorted.map(({ address, text, line: _line, ...work }, index) => {
    const [place, ...further] = places.get(address) ?? []
    const relative = relativeText(text, base, end)
    return {
      index,
      offset: address - base,
      text: relative,
      opcode: opcodeOf(relative),
      file: place?.file ?? null,
      line: place?.line ?? null,
      ...(further.length > 0 ? { inlinedFrom: further } : {}),
      ...work,
    }
  })
}

function countOpcodes(instructions: readonly Instruction[]): Record<string, number> | null {
  const opcodes: Record<string, number> = {}
  for (const { opcode, executed } of instructions) {
    if (executed === null) return null
    // Skip opcodes with a zero count, because padding instructions are never executed.
    if (executed > 0) opcodes[opcode] = (opcodes[opcode] ?? 0) + executed
  }
  return instructions.length === 0 ? null : opcodes
}

/**
 * Returns a kernel's instructions by address. Uses the SASS view if available, and otherwise the
 * source view.
 */
const codeOf = (
  sass: readonly SourceSection[],
  withLines: readonly SourceSection[],
): Map<number, SassRow> =>
  new Map(
    (sass.length > 0 ? sass : withLines)
      .flatMap(({ instructions }) => instructions)
      .map((row) => [row.address, row]),
  )

function toKernel(
  { id, kernelName }: Launch,
  sass: readonly SourceSection[],
  withLines: readonly SourceSection[],
  { rules, nameOf }: DeepPages,
): DeepKernel {
  const places = new Map<number, Place[]>()
  const lines: SourceLine[] = []
  for (const section of withLines) {
    const file = nameOf(section.file ?? '')
    for (const { line, text, ...work } of section.lines)
      lines.push({ file, line, text: text === '' ? null : text, ...work })
    for (const { address, line } of section.instructions)
      if (line !== null) places.set(address, [...(places.get(address) ?? []), { file, line }])
  }
  const stallSamples = [...sass, ...withLines].map((own) => own.stallSamples).find((own) => own)
  const instructions = toInstructions([...codeOf(sass, withLines).values()], places)
  return {
    name: kernelName,
    instructions,
    lines,
    opcodes: countOpcodes(instructions),
    rules: rules.get(id) ?? [],
    ...(stallSamples ? { stallSamples } : {}),
  }
}

function notesOn({ name, instructions, lines }: DeepKernel): Statement[] {
  if (instructions.length === 0) return [message('deep.noInstructions', { kernel: name })]
  return lines.length === 0 ? [message('deep.noLines', { kernel: name })] : []
}

export interface ReportProfiles extends DeepProfiles {
  /**
   * Returns the instruction counts that are added up for a rung. Does not read source locations.
   */
  countedOf(rung: string): readonly Counted[]
}

/** Returns deep profiles by rung. Skips launches outside any NVTX range. */
export function toDeepProfiles(launches: readonly Launch[], pages: DeepPages): ReportProfiles {
  const sass = assignSections(launches, pages.sass)
  const withLines = assignSections(launches, pages.lines, sharesAddresses(launches, sass))
  const launchesOf = (rung: string): Launch[] => launches.filter((launch) => launch.rung === rung)
  const make = (rung: string): DeepProfile => {
    const own = launchesOf(rung)
    const kernels = own.map((launch) =>
      toKernel(launch, sass.get(launch.id) ?? [], withLines.get(launch.id) ?? [], pages),
    )
    const unreadable = (
      { unreadable }: SourcePage,
      sections: ReadonlyMap<number, SourceSection[]>,
    ) =>
      own
        .flatMap(({ id }) => sections.get(id) ?? [])
        .reduce((sum, section) => sum + section.unreadable, unreadable)
    return {
      schema: deepSchemaVersion,
      rung,
      kernels,
      notes: [
        ...unreadableNotes(unreadable(pages.sass, sass)),
        ...unreadableNotes(unreadable(pages.lines, withLines)),
        ...kernels.flatMap(notesOn),
      ],
    }
  }
  const rungs = new Set(launches.flatMap(({ rung }) => (rung === null ? [] : [rung])))
  const made = new Map<string, DeepProfile>()
  const get = (rung: string): DeepProfile | undefined => {
    if (!rungs.has(rung)) return undefined
    const profile = made.get(rung) ?? make(rung)
    made.set(rung, profile)
    return profile
  }
  return {
    get,
    keys: () => rungs.keys(),
    values: () => [...rungs].map((rung) => get(rung)!).values(),
    countedOf: (rung) =>
      listedInAll(
        launchesOf(rung).map(({ id }) => [
          ...codeOf(sass.get(id) ?? [], withLines.get(id) ?? []).values(),
        ]),
      ).map((row) => ({ ...row, opcode: opcodeOf(row.text.trim()) })),
  }
}
