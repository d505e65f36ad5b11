/** What an emulated launch found and counted: faults with their places, figures, and a profile per instruction. */
import type { Finding, FindingKind } from '../emulator/site'
import type { Counts } from '../emulator/warp'
import { message, type AnyMessage, type Statement, says } from '../messages/message'
import type { Extent } from '../emulator/launch'
import { userPlace, type MachineKernel } from '../sass/machine-code'
import type { SanitizerRecord, SanitizerTool, SourcePlace } from '../session/sanitizer'
import type { EmulatedKernel, EmulationAnswer, Stop } from './job'
import { sharedAccesses } from '../metrics/counted-metrics'
import { metricsAtLevel, unavailable, type MetricValue } from '../metrics/metrics'
import { withDerived } from '../session/registry-figures'
import {
  opcodeFamily,
  counted,
  notCounted,
  type DeepKernel,
  type DeepProfile,
  type Instruction,
  type SourceLine,
  type Work,
} from '../session/deep'

// What the emulator found wrong, as compute-sanitizer's records say it and as a reason for a rung's status.

const instructionBytes = 16
/** Prints of a rung that are shown. */
const mostShown = 32

/** A launch as findings name its places. */
export interface LaunchPlaces {
  kernel: MachineKernel
  /** As a person writes it. */
  name: string
  grid: Extent
  block: Extent
}

/** Which of compute-sanitizer's tools looks for it. */
export const toolOf: Readonly<Record<FindingKind, SanitizerTool>> = {
  'outside-global': 'memcheck',
  'outside-shared': 'memcheck',
  'outside-local': 'memcheck',
  misaligned: 'memcheck',
  'unwritten-global': 'initcheck',
  'unwritten-shared': 'initcheck',
  race: 'racecheck',
  'divergent-barrier': 'synccheck',
}

const stopTools: Partial<Record<Stop['kind'], SanitizerTool>> = {
  'illegal-address': 'memcheck',
  deadlock: 'synccheck',
}
export const toolOfStop = ({ kind }: Stop): SanitizerTool | null => stopTools[kind] ?? null

const direction = ({ write }: { write: boolean }): string => (write ? 'write' : 'read')
const access = ({ write }: { write: boolean }): string => (write ? 'Write' : 'Read')

/** In compute-sanitizer's words. */
function wordsOf(finding: Finding): string {
  const size = `${direction(finding)} of size ${finding.bytes} bytes`
  switch (finding.kind) {
    case 'outside-global':
      return `Invalid __global__ ${size}`
    case 'outside-shared':
      return `Invalid __shared__ ${size}`
    case 'outside-local':
      return `Invalid __local__ ${size}`
    case 'misaligned':
      return `Misaligned ${size}`
    case 'unwritten-global':
      return `Uninitialized __global__ memory ${size}`
    case 'unwritten-shared':
      return `Uninitialized __shared__ memory ${size}`
    case 'race':
      return `Race between ${access(finding)} and ${access(finding.other!)} of shared memory`
    case 'divergent-barrier':
      return 'Divergent threads at a barrier'
  }
}

const triple = (at: number, [x, y]: Extent): [number, number, number] => [
  at % x,
  Math.floor(at / x) % y,
  Math.floor(at / (x * y)),
]

export const placeOf = (
  { kernel, name }: LaunchPlaces,
  address: number,
  nameOf: (path: string) => string,
): SourcePlace => {
  const place = userPlace(kernel.lines, address)
  return { file: place ? nameOf(place.file) : null, line: place?.line ?? null, function: name }
}

export function toRecord(
  finding: Finding,
  launch: LaunchPlaces,
  nameOf: (path: string) => string,
): SanitizerRecord {
  const at = (index: number): SourcePlace => placeOf(launch, index * instructionBytes, nameOf)
  return {
    kind: 'Emulated',
    severity: 'error',
    message: wordsOf(finding),
    place: at(finding.at),
    conflict: finding.other
      ? { place: at(finding.other.at), first: access(finding), second: access(finding.other) }
      : null,
    count: 1,
    thread: triple(finding.thread, launch.block),
    block: triple(finding.block, launch.grid),
    // An address that no buffer can have is not a number.
    address:
      finding.kind === 'divergent-barrier' || Number.isNaN(finding.address)
        ? null
        : `0x${finding.address.toString(16)}`,
  }
}

export const recordsOf = (
  kernels: readonly EmulatedKernel[],
  launches: readonly LaunchPlaces[],
  nameOf: (path: string) => string,
): { finding: Finding; record: SanitizerRecord }[] =>
  kernels.flatMap(({ findings }, index) =>
    findings.map((finding) => ({ finding, record: toRecord(finding, launches[index]!, nameOf) })),
  )

const where = (
  { file, line, function: name }: SourcePlace,
  address: number | null,
): '' | AnyMessage =>
  file !== null && line !== null
    ? message('emulation.place', { file, line })
    : address === null
      ? ''
      : message('emulation.placeAt', { address: `0x${address.toString(16)}`, kernel: name ?? '' })

/** The reason for a rung's status; null where nothing was found. */
export function faultReason(records: readonly SanitizerRecord[]): Statement | null {
  const [first] = records
  if (!first) return null
  const said = message('emulation.fault', {
    what: first.message,
    where: where(first.place, null),
    thread: `(${first.thread?.join(', ')})`,
    block: `(${first.block?.join(', ')})`,
  })
  return records.length === 1
    ? said
    : message('emulation.faults', { count: records.length, first: said })
}

/** What threads printed, a line each, and how much is left out. */
export function printedLines(
  rung: string,
  { printed, prints }: Pick<EmulationAnswer, 'printed' | 'prints'>,
  launches: readonly LaunchPlaces[],
): AnyMessage[] {
  const shown = printed.slice(0, mostShown).map(({ launch, block, thread, text }) =>
    message('emulation.printed', {
      rung,
      text: text.replace(/\n$/, ''),
      thread: `(${triple(thread, launches[launch]!.block).join(', ')})`,
      block: `(${triple(block, launches[launch]!.grid).join(', ')})`,
    }),
  )
  const rest = prints - shown.length
  return rest > 0 ? [...shown, message('emulation.printedMore', { rung, count: rest })] : shown
}

/** What a call of a function with code of its own begins with. */
const callsOut = new Set(['CALL'])

/** Thread and block of a stop, as a person writes them. */
const blamed = (
  { by }: Stop,
  launch: LaunchPlaces | undefined,
): Record<'thread' | 'block', string> => ({
  thread: by && launch ? `(${triple(by.thread, launch.block).join(', ')})` : '?',
  block: by && launch ? `(${triple(by.block, launch.grid).join(', ')})` : '?',
})

const millions = (count: number): number => Math.round(count / 1e6)

/** Why a rung did not run to its end. */
/** As NVIDIA's disassembler prints it. */
const printedAddress = (address: number | null): string =>
  address === null ? '' : `/*${address.toString(16).padStart(4, '0')}*/ `

export function stopReason(
  stop: Stop,
  launch: LaunchPlaces | undefined,
  nameOf: (path: string) => string,
): Statement {
  const there =
    launch && stop.address !== null
      ? where(placeOf(launch, stop.address, nameOf), stop.address)
      : ''
  const at = { where: there }
  switch (stop.kind) {
    case 'unknown-instruction':
      if (callsOut.has(stop.mnemonic ?? '')) return message('emulation.callsOut', at)
      return message('emulation.unknownInstruction', {
        instruction: `${printedAddress(stop.address)}${[...new Set([stop.mnemonic ?? '', stop.detail])].filter(Boolean).join(': ')}`,
        ...at,
      })
    case 'illegal-address':
      return message('emulation.illegalAddress', at)
    case 'too-long':
      return message('emulation.tooLong', { limit: millions(Number(stop.detail)), ...at })
    case 'deadlock':
      return message('emulation.deadlock', { block: stop.detail, ...at })
    case 'memory':
      return message('emulation.memory', { detail: stop.detail })
    case 'assert':
      return message('emulation.assert', { what: stop.detail, ...at, ...blamed(stop, launch) })
    case 'stack':
      return message('emulation.stack', { bytes: stop.detail, ...at, ...blamed(stop, launch) })
    case 'trap':
      return message('emulation.trap', { detail: stop.detail, ...at })
  }
}

// Registry metrics from what the emulator counted. Which instructions a counter of ncu covers was read off deep profiles
// of an H200: see docs/EMULATION.md.

/** One launch: its counts, and the opcode of each instruction, with modifiers. */
export interface CountedLaunch {
  opcodes: readonly string[]
  counts: Counts
}

type Column = Exclude<keyof Counts, never>

/** Instructions that look addresses up in L1; what bulk copies move passes it by. */
const copies = new Set(['LDGSTS', 'UBLKCP', 'UTMALDG', 'UTMASTG', 'UBLKRED', 'UTMAREDG'])
const sharedLoads = new Set<string>(sharedAccesses.loads)
const sharedStores = new Set<string>(sharedAccesses.stores)
const sharedCopies = new Set<string>(sharedAccesses.copies)
const globalLoads = new Set(['LDG', 'LDGSTS'])
const globalStores = new Set(['STG'])
/** Generic accesses, which are of shared or of global memory when they are executed. */
const genericLoads = new Set(['LD'])
const genericStores = new Set(['ST'])

/** Of `launches`, which are a rung's: every metric that does not depend on time. */
export function emulatedMetrics(
  launches: readonly CountedLaunch[],
  notEmulated: Statement,
): Record<string, MetricValue> {
  const sum = (column: Column, of: ReadonlySet<string> | null): number => {
    let total = 0
    for (const { opcodes, counts } of launches) {
      const values = counts[column]
      for (let index = 0; index < opcodes.length; index++)
        if (of === null || of.has(opcodeFamily(opcodes[index]!))) total += values[index]!
    }
    return total
  }
  const only = (...opcodes: string[]): ReadonlySet<string> => new Set(opcodes)
  const per = (of: ReadonlySet<string>, generic: ReadonlySet<string>): number | Statement => {
    const requests = sum('executed', of) + sum('intoGlobal', generic)
    const sectors = sum('l1Sectors', of) + sum('l1Sectors', generic)
    return requests === 0 ? message('figures.noShare') : sectors / requests
  }
  const excess = (of: ReadonlySet<string>): number =>
    sum('wavefronts', of) - sum('idealWavefronts', of)
  const values: Record<string, number | Statement> = {
    sharedLoads: sum('executed', only('LDS')) + sum('intoShared', genericLoads),
    sharedLoadBankConflicts: sum('conflicts', sharedLoads) + sum('conflicts', genericLoads),
    sharedStoreBankConflicts: sum('conflicts', sharedStores) + sum('conflicts', genericStores),
    sharedLoadStructuralConflicts: excess(sharedLoads),
    sharedStoreStructuralConflicts: excess(sharedStores),
    sharedCopyStructuralConflicts: excess(sharedCopies),
    sharedLoadWavefronts: sum('passes', sharedLoads) + sum('passes', genericLoads),
    sharedStoreWavefronts: sum('passes', sharedStores) + sum('passes', genericStores),
    globalLoadSectorsPerRequest: per(globalLoads, genericLoads),
    globalStoreSectorsPerRequest: per(globalStores, genericStores),
    l1Bytes:
      sum('executed', copies) > 0 ? message('emulation.copiesPastL1') : 32 * sum('sectors', null),
    instructions: sum('executed', null),
    ffmaInstructions: sum('on', only('FFMA')),
    faddInstructions: sum('on', only('FADD')),
    fmulInstructions: sum('on', only('FMUL')),
  }
  const metrics = Object.fromEntries(
    metricsAtLevel('deep').flatMap(({ id, unit, derived }): [string, MetricValue][] => {
      const value = values[id]
      if (value === undefined) return derived ? [] : [[id, unavailable(unit, notEmulated)]]
      return [
        [
          id,
          typeof value === 'number'
            ? { value, unit, evidence: 'emulated' }
            : unavailable(unit, value),
        ],
      ]
    }),
  )
  return withDerived('standard', metrics)
}

// What the emulator counted of each instruction and source line, in the shape of a deep profile.

/** Instructions that have a figure for shared memory, or for global memory; ncu leaves the others' empty. */
const shared = new Set(['LDS', 'LDSM', 'STS', 'STSM', 'LDGSTS', 'ATOMS', 'LD', 'ST', 'ATOM'])
const global = new Set(['LDG', 'STG', 'LDGSTS', 'ATOMG', 'RED', 'REDG', 'LD', 'ST', 'ATOM'])

function workOf(counts: Counts, index: number, opcode: string): Work {
  const family = opcodeFamily(opcode)
  const ofShared = (value: number): number | null => (shared.has(family) ? value : null)
  const ofGlobal = (value: number): number | null => (global.has(family) ? value : null)
  const [wavefronts, ideal] = [counts.wavefronts[index]!, counts.idealWavefronts[index]!]
  const [sectors, idealSectors] = [counts.sectors[index]!, counts.idealSectors[index]!]
  return {
    ...notCounted,
    executed: counts.executed[index]!,
    threadExecuted: counts.threads[index]!,
    sharedWavefronts: ofShared(wavefronts),
    sharedWavefrontsIdeal: ofShared(ideal),
    sharedWavefrontsExcess: ofShared(wavefronts - ideal),
    globalL1Requests: ofGlobal(counts.tags[index]!),
    globalL2Sectors: ofGlobal(sectors),
    globalL2SectorsIdeal: ofGlobal(idealSectors),
    globalL2SectorsExcess: ofGlobal(sectors - idealSectors),
  }
}

function kernelWith(kernel: DeepKernel, counts: Counts): DeepKernel {
  const lines = new Map<string, SourceLine>(
    kernel.lines.map((line) => [`${line.file}:${line.line}`, { ...line }]),
  )
  const opcodes: Record<string, number> = {}
  const instructions = kernel.instructions.map((instruction): Instruction => {
    const work = workOf(counts, instruction.index, instruction.opcode)
    const { file, line, inlinedFrom = [], opcode } = instruction
    opcodes[opcode] = (opcodes[opcode] ?? 0) + work.executed!
    // As ncu does: the work of inlined code counts for its own line and for each that it was inlined at.
    const places = new Set(
      [...(file !== null && line !== null ? [{ file, line }] : []), ...inlinedFrom].map(
        (place) => `${place.file}:${place.line}`,
      ),
    )
    for (const place of places) {
      const total = lines.get(place)
      if (!total) continue
      for (const figure of counted)
        if (work[figure] !== null) total[figure] = (total[figure] ?? 0) + work[figure]
    }
    return { ...instruction, ...work }
  })
  return {
    ...kernel,
    instructions,
    lines: [...lines.values()],
    opcodes: Object.fromEntries(Object.entries(opcodes).filter(([, executed]) => executed > 0)),
  }
}

/** `listing` has the launches of the rung in order, without counters; `counts` those of each. */
export const emulatedProfile = (listing: DeepProfile, counts: readonly Counts[]): DeepProfile => ({
  ...listing,
  kernels: listing.kernels.map((kernel, index) => {
    const own = counts[index]
    return own ? kernelWith(kernel, own) : kernel
  }),
  notes: [
    message('emulation.counted'),
    ...listing.notes.filter((note) => !says(note, 'deep.notCounted')),
  ],
})
