/** Converts the emulator's counts per instruction and source line to a deep profile. */
import type { Counts } from '../emulator/warp'
import { message, says } from '../messages/message'
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

/**
 * Instructions that have shared-memory counters. ncu leaves the cells of other instructions empty.
 */
const shared = new Set(
  ['LDS', 'LDSM', 'STS', 'STSM', 'LDGSTS', 'ATOMS', 'LD', 'ST', 'ATOM'].concat('HGMMA', 'QGMMA'),
)

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
    // As in ncu, inlined code is counted for its source line and for each call site.
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

/**
 * Returns a deep profile with the emulator's counters. `listing` contains the rung's launches in
 * order, without counters. `counts` contains the counts of each launch.
 */
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
