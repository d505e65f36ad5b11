/**
 * Splits the emulation of a rung into parts that idle threads can run. Each part executes some of
 * the launch's blocks in separate memory. Afterwards, the parts' counts and writes are merged. If
 * no block reads data from another block, the result is the same as if all blocks ran in order.
 */
import { instructionsOf } from '../emulator/rung'
import type { Counts } from '../emulator/warp'
import type { Instruction } from '../sass/instruction'
import { isRepeated, type EmulatedKernel, type EmulationAnswer, type EmulationJob } from './job'
import { unwritten } from './job-memory'

/**
 * Minimum number of warp instructions per part. For smaller parts, the extra memory and compilation
 * cost more than running in parallel saves.
 */
const leastInstructions = 1e6

const atomics = new Set(['ATOM', 'ATOMG', 'RED', 'REDG', 'UTMAREDG'])
const accesses = new Set(['LD', 'LDG', 'ST', 'STG', 'MEMBAR', 'CCTL'])

/**
 * Returns whether an instruction can communicate between blocks, as atomics, volatile accesses and
 * GPU-wide fences can.
 */
const reachesOtherBlocks = ({ mnemonic, modifiers }: Instruction): boolean =>
  atomics.has(mnemonic) ||
  (accesses.has(mnemonic) &&
    modifiers.some((word) => /^(STRONG\.)?(GPU|SYS)$/.test(word) || word === 'IVALL'))

/**
 * Returns the number of consecutive blocks that must stay in one part. A kernel with clusters needs
 * a whole grid row in one part; other kernels need one block. Returns null if blocks may depend on
 * one another.
 */
function unitOf(job: EmulationJob): number | null {
  const { launches, machineCode, memory, checks } = job
  if (isRepeated(job)) return null
  const [launch, ...others] = launches
  // Later launches and copies may read data that the first launch wrote.
  if (!launch || others.length > 0 || checks || memory.some(({ before }) => before > 0)) return null
  for (const { kernels, architecture } of machineCode)
    for (const { name, code, clusterBlocks } of kernels) {
      if (name !== launch.kernel) continue
      if (instructionsOf(code, architecture).some(reachesOtherBlocks)) return null
      const [x, y, z] = clusterBlocks ?? [1, 1, 1]
      return (launch.clusterBlocks ?? 1) > 1 || x * y * z > 1 ? launch.grid[0] : 1
    }
  return null
}

/**
 * Splits a job into at most `most` parts, in block order. Returns the unsplit job if its blocks may
 * depend on one another. `estimated` is the total number of warp instructions.
 */
export function partsOf(job: EmulationJob, most: number, estimated: number): EmulationJob[] {
  const worthwhile = Number.isFinite(estimated) ? Math.floor(estimated / leastInstructions) : 1
  const unit = Math.min(most, worthwhile) > 1 ? unitOf(job) : null
  if (unit === null) return [job]
  const [x, y, z] = job.launches[0]!.grid
  const units = (x * y * z) / unit
  const parts = Math.min(most, worthwhile, units)
  const begin = (part: number): number => unit * Math.floor((part * units) / parts)
  return Array.from({ length: parts }, (_, part) => ({
    ...job,
    blocks: { first: begin(part), count: begin(part + 1) - begin(part) },
  }))
}

const sum = (arrays: readonly Float64Array[]): Float64Array =>
  arrays[0]!.map((_, index) => arrays.reduce((total, each) => total + each[index]!, 0))

function together(kernels: readonly EmulatedKernel[]): EmulatedKernel {
  const all = (of: (kernel: EmulatedKernel) => number): number =>
    kernels.reduce((total, kernel) => total + of(kernel), 0)
  const names = Object.keys(kernels[0]!.counts) as (keyof Counts)[]
  return {
    kernel: kernels[0]!.kernel,
    instructions: all(({ instructions }) => instructions),
    barriers: all(({ barriers }) => barriers),
    blocks: all(({ blocks }) => blocks),
    counts: Object.fromEntries(
      names.map((name) => [name, sum(kernels.map(({ counts }) => counts[name]))]),
    ) as unknown as Counts,
    findings: kernels.flatMap(({ findings }) => findings),
    readsClock: kernels[0]!.readsClock,
  }
}

/**
 * Merges a buffer's contents from all parts. Each byte is taken from the last part that
 * changed it.
 */
function written(before: Uint8Array | null, parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts
  const bytes = first!.slice()
  for (const part of others)
    for (let at = 0; at < bytes.length; at++)
      if (part[at] !== (before ? before[at] : unwritten)) bytes[at] = part[at]!
  return bytes
}

/** Merges the answers for a job's parts into one answer. */
export function joined(job: EmulationJob, answers: readonly EmulationAnswer[]): EmulationAnswer {
  const stopped = answers.findIndex(({ stop }) => stop !== null)
  // In an undivided job, the blocks after the stopped block would not have run.
  const ran = stopped < 0 ? answers : answers.slice(0, stopped + 1)
  const last = ran.at(-1)!
  if (ran.length === 1 && (stopped >= 0 || answers.length === 1)) return last
  const kernels = ran.map((answer) => answer.kernels)
  return {
    kernels:
      stopped < 0
        ? kernels[0]!.map((_, index) => together(kernels.map((each) => each[index]!)))
        : last.kernels,
    prepared: last.prepared,
    stop: last.stop,
    printed: ran.flatMap(({ printed }) => printed),
    prints: ran.reduce((total, { prints }) => total + prints, 0),
    outputs: new Map(
      stopped >= 0
        ? []
        : [...last.outputs.keys()].map((name) => [
            name,
            written(
              job.buffers.find((buffer) => buffer.name === name)!.contents,
              ran.map(({ outputs }) => outputs.get(name)!),
            ),
          ]),
    ),
    again: [],
    unsettled: false,
    changedInputs: [...new Set(ran.flatMap(({ changedInputs }) => changedInputs))],
    seconds: ran.reduce((total, { seconds }) => total + seconds, 0),
  }
}
