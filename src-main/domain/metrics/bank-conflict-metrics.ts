/**
 * Bank-conflict metrics of the deep level, which separate the structural conflicts of memory
 * operations from other conflicts.
 *
 * ncu's conflict counters include wavefronts lost to arbitration. The lost wavefronts vary between
 * runs, and occur even in code without conflicts. On an H200, the lost wavefronts reached 13 % of
 * one kernel's store wavefronts. The source counters report each instruction's wavefronts and the
 * minimum for its accesses. The difference between the reported wavefronts and the minimum depends
 * only on the addresses.
 */
import type { MetricDefinition } from './metric-definition'

/** Opcodes for each kind of shared-memory access. Source: the sections of ncu's memory table. */
export const sharedAccesses = {
  loads: ['LDS', 'LDSM'],
  stores: ['STS', 'STSM'],
  copies: ['LDGSTS'],
} as const

type Named = Pick<MetricDefinition, 'id' | 'label' | 'meaning'>

const structural = (of: readonly string[], definition: Named): MetricDefinition => ({
  ...definition,
  unit: 'conflicts',
  better: 'lower',
  kind: 'structural',
  level: 'deep',
  aggregate: 'sum',
  group: 'shared',
  ncu: [],
  perInstruction: { figure: 'sharedWavefrontsExcess', of },
})

const noise = (counted: string, part: string, definition: Named): MetricDefinition => ({
  ...definition,
  unit: 'conflicts',
  better: 'neither',
  kind: 'dynamic',
  level: 'deep',
  aggregate: 'sum',
  group: 'shared',
  ncu: [],
  derived: {
    from: [counted, part],
    of: (figures) => figures[counted]! - figures[part]!,
    how: 'figures.noise',
  },
})

export const conflictMetrics: readonly MetricDefinition[] = [
  structural(sharedAccesses.loads, {
    id: 'sharedLoadStructuralConflicts',
    label: 'Structural conflicts, shared loads',
    meaning:
      'Extra passes for shared loads that follow from their addresses: wavefronts less the fewest that the accesses need, summed over the instructions.',
  }),
  structural(sharedAccesses.stores, {
    id: 'sharedStoreStructuralConflicts',
    label: 'Structural conflicts, shared stores',
    meaning:
      'Extra passes for shared stores that follow from their addresses: wavefronts less the fewest that the accesses need, summed over the instructions.',
  }),
  structural(sharedAccesses.copies, {
    id: 'sharedCopyStructuralConflicts',
    label: 'Structural conflicts, asynchronous copies',
    meaning:
      'Extra passes of cp.async into shared memory that follow from its addresses; the counters of bank conflicts for loads and stores do not include them.',
  }),
  noise('sharedLoadBankConflicts', 'sharedLoadStructuralConflicts', {
    id: 'sharedLoadArbitrationNoise',
    label: 'Other conflicts, shared loads',
    meaning:
      'What the counter of bank conflicts has beyond the structural ones. A part follows from the addresses and repeats, as the hardware counts loads of 8 and 16 bytes in other groups; the rest varies from run to run.',
  }),
  noise('sharedStoreBankConflicts', 'sharedStoreStructuralConflicts', {
    id: 'sharedStoreArbitrationNoise',
    label: 'Other conflicts, shared stores',
    meaning:
      'What the counter of bank conflicts has beyond the structural ones: passes that the source counters do not have. They may vary from run to run.',
  }),
]
