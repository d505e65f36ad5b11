/**
 * Converts the emulator's findings to compute-sanitizer records and to reasons for a rung's status.
 */
import type { Finding, FindingKind } from '../emulator/site'
import { message, type AnyMessage, type Statement } from '../messages/message'
import type { Extent } from '../emulator/special-registers'
import { type MachineKernel } from '../sass/machine-code'
import type { SanitizerRecord, SanitizerTool, SourcePlace } from '../session/sanitizer'
import type { EmulatedKernel, EmulationAnswer, Stop } from './job'
import { userPlace } from '../sass/line-table'

const instructionBytes = 16
/** Maximum number of printf lines shown per rung. */
const mostShown = 32

/** A launch, with the data needed to locate findings in the source code. */
export interface LaunchPlaces {
  kernel: MachineKernel
  /** The kernel's readable name. */
  name: string
  grid: Extent
  block: Extent
}

/** Maps each kind of finding to the compute-sanitizer tool that detects it. */
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

/** Returns a finding's description in compute-sanitizer's wording. */
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

function toRecord(
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
    // The address is NaN if no buffer could contain it.
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

/** Returns the reason for a rung's status, or null if there are no findings. */
export function faultReason(records: readonly SanitizerRecord[]): Statement | null {
  const [first] = records
  if (!first) return null
  const faultStatement = message('emulation.fault', {
    what: first.message,
    where: where(first.place, null),
    thread: `(${first.thread?.join(', ')})`,
    block: `(${first.block?.join(', ')})`,
  })
  return records.length === 1
    ? faultStatement
    : message('emulation.faults', { count: records.length, first: faultStatement })
}

/**
 * Returns messages with the text that threads printed, and a message that states how many lines
 * were omitted.
 */
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

/** Instructions that call separately compiled functions. */
const callsOut = new Set(['CALL'])

/** Returns the thread and block that caused a stop, formatted for messages. */
const blamed = (
  { by }: Stop,
  launch: LaunchPlaces | undefined,
): Record<'thread' | 'block', string> => ({
  thread: by && launch ? `(${triple(by.thread, launch.block).join(', ')})` : '?',
  block: by && launch ? `(${triple(by.block, launch.grid).join(', ')})` : '?',
})

const millions = (count: number): number => Math.round(count / 1e6)

/** Formats an address in the style of NVIDIA's disassembler. */
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
