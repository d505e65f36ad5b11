/**
 * Instruction-mix metrics of the standard level: thread instructions by ncu's categories, FP32
 * arithmetic, and fractions.
 *
 * The categories count only predicated-on threads. Category counts are displayed relative to 32
 * lanes per warp instruction (`instructions`). The remainder consists of inactive lanes and of
 * instructions outside these categories, such as HMMA and HGMMA (recordings.test.ts). Half- and
 * double-precision instructions are also outside these categories, because their counters are not
 * collected. On an H200, the remainder is 0.1% to 1.6% for the rungs of gemm-fp32
 * (test/captures/ncu, `standard-mix`).
 */
import type { MetricDefinition } from './metric-definition'

/** Number of lanes per warp. */
export const lanes = 32

type Own = Pick<MetricDefinition, 'id' | 'label' | 'meaning'> &
  Partial<Pick<MetricDefinition, 'better' | 'kind'>>

const executed = (op: string, definition: Own): MetricDefinition => ({
  // Non-arithmetic instructions occupy issue slots that arithmetic could use. A warp that waits in
  // a loop executes more non-arithmetic instructions.
  better: 'lower',
  kind: 'dynamic',
  // The minimum change is half a percent of all warp instructions, converted to thread
  // instructions.
  floor: { share: lanes * 0.005, of: ['instructions'] },
  ...definition,
  unit: 'inst',
  level: 'standard',
  aggregate: 'sum',
  group: 'mix',
  ncu: [`smsp__sass_thread_inst_executed_op_${op}_pred_on.sum`],
})

const arithmetic = { better: 'neither', kind: 'structural' } as const

const kinds: readonly MetricDefinition[] = [
  executed('fp32', {
    ...arithmetic,
    id: 'fp32Instructions',
    label: 'Thread instructions: FP32',
    meaning: 'Single-precision instructions executed by threads: FFMA, FADD, FMUL and comparisons.',
  }),
  executed('integer', {
    id: 'integerInstructions',
    label: 'Thread instructions: integer',
    meaning: 'Integer instructions executed by threads; many compute addresses and count loops.',
  }),
  executed('memory', {
    id: 'memoryInstructions',
    label: 'Thread instructions: memory',
    meaning: 'Loads, stores and copies executed by threads; wider accesses and reuse need fewer.',
  }),
  executed('control', {
    id: 'controlInstructions',
    label: 'Thread instructions: control',
    meaning: 'Branches and exits executed by threads; unrolled loops have fewer.',
  }),
  executed('uniform', {
    id: 'uniformInstructions',
    label: 'Thread instructions: uniform',
    meaning:
      'Instructions of the uniform datapath, executed once per warp and counted here for each of its threads.',
  }),
  executed('misc', {
    id: 'miscInstructions',
    label: 'Thread instructions: miscellaneous',
    meaning: 'Moves, special-register reads, barriers and the like.',
  }),
  executed('bit', {
    id: 'bitInstructions',
    label: 'Thread instructions: bit',
    meaning: 'Bit operations executed by threads.',
  }),
  executed('conversion', {
    id: 'conversionInstructions',
    label: 'Thread instructions: conversion',
    meaning: 'Conversions between number formats executed by threads.',
  }),
  executed('inter_thread_communication', {
    id: 'exchangeInstructions',
    label: 'Thread instructions: inter-thread',
    meaning: 'Shuffles, votes and other communication between the threads of a warp.',
  }),
]

/** Ids of the thread-instruction categories, in drawing order. */
export const instructionKinds: readonly string[] = kinds.map(({ id }) => id)

const operations: readonly MetricDefinition[] = [
  executed('ffma', {
    ...arithmetic,
    id: 'ffmaInstructions',
    label: 'Thread-level FFMA',
    meaning:
      'Single-precision fused multiply-adds executed by threads; each counts as two operations.',
  }),
  executed('fadd', {
    ...arithmetic,
    id: 'faddInstructions',
    label: 'Thread-level FADD',
    meaning: 'Single-precision additions executed by threads.',
  }),
  executed('fmul', {
    ...arithmetic,
    id: 'fmulInstructions',
    label: 'Thread-level FMUL',
    meaning: 'Single-precision multiplications executed by threads.',
  }),
]

const share = (
  counted: string,
  definition: Pick<MetricDefinition, 'id' | 'label' | 'meaning' | 'better'>,
): MetricDefinition => ({
  ...definition,
  unit: '%',
  floor: { least: 0.2 },
  kind: 'dynamic',
  level: 'standard',
  aggregate: 'sum',
  group: 'mix',
  ncu: [],
  derived: {
    from: [counted, 'instructions'],
    of: (figures) => {
      const slots = lanes * figures['instructions']!
      return slots > 0 ? (100 * figures[counted]!) / slots : null
    },
    how: 'figures.slotShare',
  },
})

export const mixMetrics: readonly MetricDefinition[] = [
  ...kinds,
  ...operations,
  {
    id: 'fp32Operations',
    label: 'FP32 operations',
    unit: 'FLOP',
    meaning:
      'Single-precision operations executed by a launch; an FFMA counts as two. Anything beyond the operation count of the task is overhead.',
    ...arithmetic,
    level: 'standard',
    aggregate: 'sum',
    group: 'mix',
    ncu: [],
    derived: {
      from: ['ffmaInstructions', 'faddInstructions', 'fmulInstructions'],
      of: ({ ffmaInstructions, faddInstructions, fmulInstructions }) =>
        2 * ffmaInstructions! + faddInstructions! + fmulInstructions!,
      how: 'figures.fp32Operations',
    },
  },
  share('ffmaInstructions', {
    id: 'ffmaShare',
    label: 'FFMA share',
    meaning:
      'FFMAs as a share of everything executed; where they are the work, every other instruction takes the issue slot of one.',
    better: 'higher',
  }),
  share('integerInstructions', {
    id: 'integerShare',
    label: 'Integer share',
    meaning: 'Integer instructions as a share of everything executed.',
    better: 'lower',
  }),
  share('memoryInstructions', {
    id: 'memoryShare',
    label: 'Memory share',
    meaning: 'Loads, stores and copies as a share of everything executed.',
    better: 'lower',
  }),
  share('controlInstructions', {
    id: 'controlShare',
    label: 'Control share',
    meaning: 'Branches and exits as a share of everything executed.',
    better: 'lower',
  }),
]
