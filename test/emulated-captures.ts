/**
 * Reads kernels with ncu's per-instruction counts from a GPU, for comparison with the emulator.
 * `scripts/lib/keep-emulation.ts` creates the captures from sessions with deep profiles.
 */
import { createDevice, type Allocation } from '../src-main/domain/emulator/device'
import { fillBuffer, type FillRule } from '../src-main/domain/emulator/fills'
import type { LaunchOptions } from '../src-main/domain/emulator/launch-types'
import { runRung, type EmulatedLaunch } from '../src-main/domain/emulator/rung'
import { readCubin } from '../src-main/parsers/cubin/cubin'
import type { LaunchPlaces } from '../src-main/domain/emulation/findings'
import type { EmulationJob } from '../src-main/domain/emulation/job'
import { packedRow, packedRows } from './captures'
import { waitingLoops } from '../src-main/domain/emulator/spin-loops'

/** The capture's file name in test/captures. */
export const captureFile = 'emulation.jsonl'

/** The counters of each instruction, in the file's order. */
export const counted = [
  'executed',
  'threads',
  'wavefronts',
  'idealWavefronts',
  'tags',
  'sectors',
  'idealSectors',
] as const
export type Counted = (typeof counted)[number]

export interface CapturedBuffer {
  name: string
  dtype: string
  bytes: number
  /** The fill rule, or null if a rung must write the buffer before reading it. */
  fill: FillRule | null
  stream: number
}

export interface CapturedRung {
  id: string
  /** The cubins in hexadecimal, so that content that rungs share compresses well. */
  cubins: string[]
  launches: {
    kernel: string
    grid: [number, number, number]
    block: [number, number, number]
    dynamicSharedBytes: number
    clusterBlocks?: number
    arguments: string
  }[]
  memory: {
    before: number
    to: string
    from?: string | undefined
    value?: number | undefined
    bytes: number
  }[]
  workspaceBytes: number
  /** The buffers in the order of the launch struct. */
  buffers: CapturedBuffer[]
  /**
   * One entry per kernel: the name, and the counts of each instruction for each counter in
   * `counted`.
   */
  kernels: { name: string; counts: number[][] }[]
}

export interface Capture {
  /** The title, such as `gemm-fp32, 130 x 258 x 70, NVIDIA H200`. */
  title: string
  seed: number
  rungs: CapturedRung[]
}

export const captures = (): string[] => packedRows(captureFile).map(({ name }) => name)

export const readCapture = (name: string): Capture =>
  JSON.parse(Buffer.from(packedRow(captureFile, name).bytes).toString()) as Capture

export interface RungRun {
  launches: EmulatedLaunch[]
  /** Returns the contents of a buffer after the last launch. */
  contents: (name: string) => Uint8Array
}

export function emulate(
  rung: CapturedRung,
  seed: number,
  options: Partial<LaunchOptions> = {},
): RungRun {
  const device = createDevice()
  const buffers = new Map<number, Allocation>()
  if (rung.workspaceBytes > 0) buffers.set(0, device.allocate('workspace', rung.workspaceBytes))
  const named = new Map<string, Allocation>()
  const written: Allocation[] = []
  for (const [index, buffer] of rung.buffers.entries()) {
    const allocation = device.allocate(buffer.name, buffer.bytes)
    buffers.set(index + 1, allocation)
    named.set(buffer.name, allocation)
    if (buffer.fill) {
      fillBuffer(device.bytes(allocation), buffer.dtype, buffer.fill, seed, buffer.stream)
      written.push(allocation)
    } else device.bytes(allocation).fill(0xff)
  }
  const launches = runRung({
    device,
    machineCode: rung.cubins.map((cubin) => readCubin(Buffer.from(cubin, 'hex'))),
    launches: rung.launches.map((launch) => ({
      ...launch,
      arguments: new Uint8Array(Buffer.from(launch.arguments, 'hex')),
    })),
    memory: rung.memory.map(({ before, to, from, value, bytes }) => ({
      before,
      to: BigInt(to),
      from: from === undefined ? null : BigInt(from),
      value: value ?? 0,
      bytes,
    })),
    buffers,
    options: { limit: 1e9, checks: false, written, ...options },
  })
  return { launches, contents: (name) => device.bytes(named.get(name)!) }
}

/**
 * Figures for one launched kernel: totals over its instructions. Differences in spin-wait loops are
 * ignored.
 */
export interface KernelComparison {
  kernel: string
  instructions: number
  /** For each counter, the kernel's totals and the number of instructions whose counts differ. */
  totals: Record<
    Counted,
    { emulated: number; measured: number; unequal: number; opcodes: readonly string[] }
  >
}

const sum = (values: ArrayLike<number>): number => {
  let total = 0
  for (let index = 0; index < values.length; index++) total += values[index]!
  return total
}

/**
 * Compares the emulated launches with the measured kernels, in launch order. The kernels of each
 * rung were profiled one at a time.
 */
export function compareKernels(rung: CapturedRung, launches: EmulatedLaunch[]): KernelComparison[] {
  return rung.kernels.map(({ name, counts }, index) => {
    const launch = launches[index]
    if (!launch)
      throw new Error(`${rung.id} launches ${launches.length} kernels, not ${rung.kernels.length}`)
    const waits = waitingLoops(launch.code)
    const totals: Partial<KernelComparison['totals']> = Object.fromEntries(
      counted.map((what, place) => {
        const measured = counts[place]!
        const emulated = launch.result.counts[what]
        const unequal = launch.code.filter(
          (_, at) => measured[at] !== emulated[at] && !waits.has(at),
        )
        const opcodes = unequal.map(({ mnemonic, modifiers }) => [mnemonic, ...modifiers].join('.'))
        return [
          what,
          {
            ...{ emulated: sum(emulated), measured: sum(measured) },
            ...{ unequal: unequal.length, opcodes },
          },
        ]
      }),
    )
    return {
      kernel: name,
      instructions: counts[0]!.length,
      totals: totals as KernelComparison['totals'],
    }
  })
}

/** Returns the instructions whose counts differ from the GPU's, excluding spin-wait loops. */
export const unequalOf = (kernels: readonly KernelComparison[]): string[] =>
  kernels.flatMap(({ kernel, totals }) =>
    counted
      .filter((what) => totals[what].unequal > 0)
      .map((what) => `${kernel}: ${what} of ${JSON.stringify(totals[what])}`),
  )

// Returns a captured rung as the emulator job that a run would create.

export const capturedJob = (rung: CapturedRung, seed: number): EmulationJob => ({
  machineCode: rung.cubins.map((cubin) => readCubin(Buffer.from(cubin, 'hex'))),
  launches: rung.launches.map((launch) => ({
    ...launch,
    arguments: new Uint8Array(Buffer.from(launch.arguments, 'hex')),
  })),
  memory: rung.memory.map(({ before, to, from, value, bytes }) => ({
    ...{ before, bytes, to: BigInt(to), value: value ?? 0 },
    from: from === undefined ? null : BigInt(from),
  })),
  workspaceBytes: rung.workspaceBytes,
  symbols: [],
  stackBytes: null,
  buffers: rung.buffers.map(({ name, dtype, bytes, fill, stream }) => {
    const contents = fill ? new Uint8Array(bytes) : null
    if (fill && contents) fillBuffer(contents, dtype, fill, seed, stream)
    return { name, bytes, contents, writable: contents === null }
  }),
  checks: false,
  limit: 1e8,
  memoryBytes: 2 ** 30,
})

export const placesOf = ({ launches, machineCode }: EmulationJob): LaunchPlaces[] =>
  launches.map(({ kernel: name, grid, block }) => ({
    kernel: machineCode.flatMap(({ kernels }) => kernels).find((each) => each.name === name)!,
    ...{ name, grid, block },
  }))
