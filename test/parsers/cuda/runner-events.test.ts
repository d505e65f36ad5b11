import { describe, expect, it } from 'vitest'
import { parseRunnerLine } from '../../../src-main/parsers/cuda/runner-events'

const timing = {
  event: 'timing',
  rung: '05_thread_tile_2d',
  medianMs: 4.21,
  spread: 0.003,
  samplesMs: [4.2, 4.21, 4.22],
  settled: true,
  referenceMedianMs: 2.7,
  referenceSamplesMs: [2.7],
  smClockBeforeMHz: 1980,
  smClockAfterMHz: null,
}
const verify = {
  event: 'verify',
  rung: '05_thread_tile_2d',
  passed: false,
  worstRelativeError: null,
  worstToleranceRatio: null,
  mismatches: 16777216,
  firstMismatch: { buffer: 'c', index: [0, 3], expected: 1.5, actual: null },
  outOfBounds: false,
  outOfBoundsBuffers: [],
  changedInputs: [],
}

const parse = (event: unknown) => parseRunnerLine(JSON.stringify(event))

describe('a line of the runner', () => {
  it('of a recording, whose runner wrote one matrix, names no buffer', () => {
    const { outOfBoundsBuffers: _buffers, changedInputs: _inputs, ...old } = verify
    expect(
      parse({ ...old, firstMismatch: { row: 0, col: 3, expected: 1.5, actual: null } }),
    ).toEqual({ ...verify, firstMismatch: { ...verify.firstMismatch, buffer: null } })
  })

  it('is read as the event it names', () => {
    expect(parse(timing)).toEqual(timing)
    expect(parse(verify)).toEqual(verify)
    const reference = { event: 'start', rung: null, case: 'f32', stage: 'reference' }
    expect(parse(reference)).toEqual(reference)
    expect(parse({ event: 'done' })).toEqual({ event: 'done' })
    expect(parse({ event: 'progress', stage: 'load' })).toEqual({
      event: 'progress',
      stage: 'load',
    })
  })

  it.each([
    { event: 'progress', rung: 'a', stage: 'time', samples: 12, spread: 0.004 },
    { event: 'progress', rung: 'a', stage: 'time', samples: 0, spread: null },
    { event: 'progress', stage: 'reference', fraction: 0.25 },
  ])('tells how far it is: %j', (event) => expect(parse(event)).toEqual(event))

  it('keeps what an error says beside its message', () => {
    const error = { event: 'error', kind: 'memory', message: 'too large', neededBytes: 9e9 }
    expect(parse(error)).toEqual(error)
  })

  it('may have a line end and fields of a later version', () => {
    expect(parseRunnerLine('{"event":"profiled","rung":"01_naive","later":1}\r')).toEqual({
      event: 'profiled',
      rung: '01_naive',
    })
  })
})

describe('a line that is not of the runner is null', () => {
  it.each([
    ['words', 'end no error'],
    ['nothing', ''],
    ["ncu's", '==PROF== Connected to process 466 (./probe)'],
    ["a row of ncu's table", '"ID","Process ID","Process Name"'],
    ['a line cut off', '{"event":"timing","rung":"01_na'],
    ['an object without an event', '{"rung":"01_naive"}'],
    ['an event nobody knows', '{"event":"weather","rung":"01_naive"}'],
    ['a name that every object has', '{"event":"constructor"}'],
    ['a list', '[{"event":"done"}]'],
    ['null', 'null'],
  ])('%s', (_, line) => expect(parseRunnerLine(line)).toBeNull())
})

describe('a known event of a wrong shape is taken for output of the rung', () => {
  it.each([
    ['the name alone', { event: 'timing' }],
    ['a missing field', { ...timing, medianMs: undefined }],
    ['a median of zero, from which no rate follows', { ...timing, medianMs: 0 }],
    ['a median shorter than any launch', { ...timing, medianMs: 1e-9 }],
    ['a time of ages, whose ratio is no number', { ...timing, referenceMedianMs: 1e300 }],
    ['no samples', { ...timing, samplesMs: [] }],
    ['a word for a number', { ...verify, mismatches: 'many' }],
    ['an unknown stage', { event: 'start', rung: 'a', stage: 'dream' }],
    ['a nested field', { ...verify, firstMismatch: { buffer: 'c', index: [1, 2] } }],
    ['a progress of nothing', { event: 'progress' }],
    ['a device without a name', { event: 'device' }],
    ['launches without kernels', { event: 'launches', rung: 'a' }],
  ])('%s', (_, event) => expect(parse(event)).toBeNull())

  it('a number beyond all numbers too', () =>
    expect(
      parseRunnerLine(JSON.stringify({ ...timing, spread: 'x' }).replace('"x"', '1e999')),
    ).toBeNull())

  it('and lists in lists without end', () =>
    expect(parseRunnerLine(`{"event":"timing","rung":${'['.repeat(200_000)}`)).toBeNull())
})

describe('what a rung launches', () => {
  const event = {
    event: 'launches',
    rung: '16_split_k',
    kernels: [
      {
        name: 'void gemmSplitK<true>(int, int)',
        grid: [4, 8, 4],
        block: [256, 1, 1],
        registersPerThread: 209,
        staticSharedBytes: 0,
        dynamicSharedBytes: 74496,
        clusterBlocks: 0,
      },
    ],
    reason: null,
  }

  it('is read with its kernels, or with the reason why it is not known', () => {
    expect(parseRunnerLine(JSON.stringify(event))).toEqual(event)
    const unknown = { event: 'launches', rung: 'a', kernels: [], reason: 'no' }
    expect(parseRunnerLine(JSON.stringify(unknown))).toEqual(unknown)
  })

  it('says nothing with a grid of two extents', () => {
    const wrong = { ...event, kernels: [{ ...event.kernels[0], grid: [1, 2] }] }
    expect(parseRunnerLine(JSON.stringify(wrong))).toBeNull()
  })
})

describe('what the GPU reaches', () => {
  it('is read, null where it could not be measured', () => {
    const event = {
      event: 'ceilings',
      fp32Gflops: 60123.4,
      l1GBs: 31000,
      l2GBs: 6100,
      dramGBs: null,
    }
    expect(parseRunnerLine(JSON.stringify(event))).toEqual(event)
  })
})
