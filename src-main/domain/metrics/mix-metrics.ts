/**
 * What a kernel executes, at the standard level: thread instructions by ncu's kinds, the FP32 arithmetic
 * among them, and what follows from both.
 *
 * The kinds are counted a thread, where all predicates were true. They are measured against 32 lanes for
 * each warp instruction (`instructions`): what is left over is lanes switched off, and instructions that
 * ncu puts in none of these kinds: HMMA and HGMMA (test/services/standard-recordings), half and double
 * precision, which have kinds that are not asked for. On an H200 that rest is 0.1% to 1.6% of gemm-fp32's rungs: test/captures/ncu, `standard-mix`.
 */
import type { MetricDefinition } from './metric-definition'

type Own = Pick<MetricDefinition, 'id' | 'label' | 'meaning'> &
  Partial<Pick<MetricDefinition, 'better' | 'kind'>>

const executed = (op: string, definition: Own): MetricDefinition => ({
  // Every instruction that is not arithmetic costs an issue slot. A warp that waits in a loop executes more.
  better: 'lower',
  kind: 'dynamic',
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
    meaning:
      'Instructions of single precision that threads executed: FFMA, FADD, FMUL, comparisons.',
  }),
  executed('integer', {
    id: 'integerInstructions',
    label: 'Thread instructions: integer',
    meaning:
      'Integer instructions that threads executed; in a GEMM they compute addresses and count loops.',
  }),
  executed('memory', {
    id: 'memoryInstructions',
    label: 'Thread instructions: memory',
    meaning: 'Loads, stores and copies that threads executed; wider ones and reuse make fewer.',
  }),
  executed('control', {
    id: 'controlInstructions',
    label: 'Thread instructions: control',
    meaning: 'Branches and exits that threads executed; unrolled loops have fewer.',
  }),
  executed('uniform', {
    id: 'uniformInstructions',
    label: 'Thread instructions: uniform',
    meaning:
      'Instructions of the uniform data path, executed once a warp and counted here for each of its threads.',
  }),
  executed('misc', {
    id: 'miscInstructions',
    label: 'Thread instructions: miscellaneous',
    meaning: 'Moves, reads of special registers, barriers and the like.',
  }),
  executed('bit', {
    id: 'bitInstructions',
    label: 'Thread instructions: bit',
    meaning: 'Bit operations that threads executed.',
  }),
  executed('conversion', {
    id: 'conversionInstructions',
    label: 'Thread instructions: conversion',
    meaning: 'Conversions between number formats that threads executed.',
  }),
  executed('inter_thread_communication', {
    id: 'exchangeInstructions',
    label: 'Thread instructions: exchange',
    meaning: 'Shuffles, votes and other exchanges between the threads of a warp.',
  }),
]

/** Ids of the kinds that a thread instruction is counted under, in the order in which they are drawn. */
export const instructionKinds: readonly string[] = kinds.map(({ id }) => id)

const operations: readonly MetricDefinition[] = [
  executed('ffma', {
    ...arithmetic,
    id: 'ffmaInstructions',
    label: 'FFMA by threads',
    meaning: 'Fused multiply-adds of single precision that threads executed, two operations each.',
  }),
  executed('fadd', {
    ...arithmetic,
    id: 'faddInstructions',
    label: 'FADD by threads',
    meaning: 'Additions of single precision that threads executed.',
  }),
  executed('fmul', {
    ...arithmetic,
    id: 'fmulInstructions',
    label: 'FMUL by threads',
    meaning: 'Multiplications of single precision that threads executed.',
  }),
]

/** Lanes of a warp. */
export const lanes = 32

const share = (
  counted: string,
  definition: Pick<MetricDefinition, 'id' | 'label' | 'meaning' | 'better'>,
): MetricDefinition => ({
  ...definition,
  unit: '%',
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
      'Operations of single precision that a launch computed; an FFMA is two. What is above the operations that the task needs is extra.',
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
      'FFMA among all that is executed; a good SIMT GEMM reaches 90%, since every other instruction takes the issue slot of one.',
    better: 'higher',
  }),
  share('integerInstructions', {
    id: 'integerShare',
    label: 'Integer share',
    meaning: 'Integer instructions among all that is executed.',
    better: 'lower',
  }),
  share('memoryInstructions', {
    id: 'memoryShare',
    label: 'Memory share',
    meaning: 'Loads, stores and copies among all that is executed.',
    better: 'lower',
  }),
  share('controlInstructions', {
    id: 'controlShare',
    label: 'Control share',
    meaning: 'Branches and exits among all that is executed.',
    better: 'lower',
  }),
]
