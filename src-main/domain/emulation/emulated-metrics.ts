/**
 * Computes registry metrics from the emulator's counts.
 *
 * docs/evidence/emulation.md lists which instructions each ncu counter covers. The documented list
 * is derived from deep profiles measured on an H200.
 */
import type { Counts } from '../emulator/warp'
import { message, type Statement } from '../messages/message'
import { metricsAtLevel, unavailable, type MetricValue } from '../metrics/metrics'
import { withDerived } from '../session/registry-figures'
import { opcodeFamily } from '../session/deep'
import { sharedAccesses } from '../metrics/bank-conflict-metrics'
import { instructionKinds } from '../metrics/instruction-mix-metrics'
import { instructionKind } from './instruction-kinds'

/** One launch's counts, and each instruction's opcode with its modifiers. */
interface CountedLaunch {
  opcodes: readonly string[]
  counts: Counts
}

type Column = Exclude<keyof Counts, never>

/** Copies to or from shared memory that may bypass L1. */
const copies = new Set(['LDGSTS', 'UBLKCP', 'UTMALDG', 'UTMASTG', 'UBLKRED', 'UTMAREDG'])

const sharedLoads = new Set<string>(sharedAccesses.loads)

const sharedStores = new Set<string>(sharedAccesses.stores)

const sharedCopies = new Set<string>(sharedAccesses.copies)

const globalLoads = new Set(['LDG', 'LDGSTS'])

const globalStores = new Set(['STG'])

/**
 * Generic accesses. The emulator determines only at run time whether a generic access targets
 * shared or global memory.
 */
const genericLoads = new Set(['LD'])

const genericStores = new Set(['ST'])

/**
 * Returns the number of thread instructions per category. If the category of an executed
 * instruction is unknown, the numbers of all categories are unavailable.
 */
function kindsOf(launches: readonly CountedLaunch[]): Record<string, number | Statement> {
  const sums: Record<string, number> = Object.fromEntries(instructionKinds.map((kind) => [kind, 0]))
  for (const { opcodes, counts } of launches)
    for (const [index, opcode] of opcodes.entries()) {
      if (counts.executed[index] === 0) continue
      const kind = instructionKind(opcodeFamily(opcode))
      if (kind === undefined)
        return Object.fromEntries(
          instructionKinds.map((id) => [id, message('emulation.noKind', { opcode })]),
        )
      if (kind !== null) sums[kind]! += counts.on[index]!
    }
  return sums
}

/** Returns all metrics that do not depend on time, computed from a rung's launches. */
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
    ...kindsOf(launches),
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
