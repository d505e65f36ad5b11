import { describe, expect, it } from 'vitest'
import { firstNan, verify, type CheckedOutput } from '../../../src-main/domain/emulation/check'
import { faultReason, recordsOf, stopReason } from '../../../src-main/domain/emulation/findings'
import { emulate as emulateJob } from '../../../src-main/domain/emulation/job'
import { joined, partsOf } from '../../../src-main/domain/emulation/parts'
import { lineHeat, opcodeHistogram } from '../../../src-main/domain/session/deep'
import { inEnglish } from '../../../src-main/domain/text/english'
import { readCapture, capturedJob, placesOf } from '../../emulated-captures'
import { emulatedMetrics } from '../../../src-main/domain/emulation/emulated-metrics'
import { emulatedProfile } from '../../../src-main/domain/emulation/emulated-profile'
import { emulatedProblem, shrunk } from '../../../src-main/domain/emulation/emulated-problem'
import { brokenConstraints, type Sizes } from '../../../src-main/domain/task/problem'
import { staticProfile } from '../../../src-main/domain/sass/static-profile'

const capture = readCapture('transpose')
const rung = capture.rungs.find(({ id }) => id === '03_square_tile')!
const job = capturedJob(rung, capture.seed)

describe('splitting a job into parts', () => {
  const much = 1e9

  it('does not change its counts and results', () => {
    const whole = emulateJob(job)
    const parts = partsOf(job, 3, much)
    expect(parts.map(({ blocks }) => blocks!.first)).toEqual([
      0,
      expect.any(Number),
      expect.any(Number),
    ])
    const answers = parts.map((part) => emulateJob(part))
    for (const { kernels } of answers)
      expect(kernels[0]!.instructions).toBeLessThan(whole.kernels[0]!.instructions)
    const { kernels, outputs, changedInputs, stop } = joined(job, answers)
    expect(kernels).toEqual(whole.kernels)
    expect(outputs).toEqual(whole.outputs)
    expect({ changedInputs, stop }).toEqual({ changedInputs: [], stop: null })
  })

  it('stops at the first failing block', () => {
    const short = { ...job, limit: 1000 }
    const answers = partsOf(short, 2, much).map((part) => emulateJob(part))
    expect(joined(short, answers)).toMatchObject({ stop: { kind: 'too-long' }, kernels: [] })
  })

  it('is skipped if the job is short, runs checks, or has dependent blocks', () => {
    const alone = (of: typeof job, instructions = much): boolean =>
      partsOf(of, 4, instructions).length === 1
    expect(alone(job)).toBe(false)
    expect(alone(job, 1e6)).toBe(true)
    expect(alone(job, Infinity)).toBe(true)
    expect(alone({ ...job, checks: true })).toBe(true)
    expect(alone({ ...job, launches: [...job.launches, ...job.launches] })).toBe(true)
    const { rungs, seed } = readCapture('histogram')
    for (const atomic of rungs)
      for (const launch of atomic.launches)
        expect([
          atomic.id,
          alone(capturedJob({ ...atomic, launches: [launch], memory: [] }, seed)),
        ]).toEqual([atomic.id, true])
  })
})

describe('a job', () => {
  const answer = emulateJob(job)
  const places = placesOf(job)
  const listing = staticProfile(
    rung.id,
    places.map(({ kernel, name }) => ({ name, code: kernel, architecture: 90 })),
    (path) => path,
  )

  it('returns counts and results without changing its inputs', () => {
    expect(answer.stop).toBeNull()
    expect(answer.kernels).toHaveLength(1)
    expect(answer.changedInputs).toEqual([])
    expect(answer.outputs.get('y')!.some((byte) => byte !== 0xff)).toBe(true)
  })

  it('returns the metrics that ncu measured on an H200', () => {
    const metrics = emulatedMetrics(
      listing.kernels.map(({ instructions }, index) => ({
        opcodes: instructions.map(({ opcode }) => opcode),
        counts: answer.kernels[index]!.counts,
      })),
      'no time',
    )
    const value = (id: string) => metrics[id]!.value
    // The size is 257 x 514. ncu measured the expected values for the captured launch.
    expect(value('sharedLoads')).toBe(4626)
    expect(value('l1Bytes')).toBe(1290592)
    expect(value('sharedLoadWavefronts')).toBe(132098)
    expect(value('sharedLoadBankConflicts')).toBe(127472)
    expect(metrics['sharedLoads']!.evidence).toBe('emulated')
    expect(metrics['achievedOccupancy']).toMatchObject({ value: null, reason: 'no time' })
  })

  it('returns a deep profile with consistent lines and opcodes', () => {
    const profile = emulatedProfile(
      listing,
      answer.kernels.map(({ counts }) => counts),
    )
    const executed = Object.values(opcodeHistogram(profile)!).reduce((a, b) => a + b, 0)
    expect(executed).toBe(answer.kernels[0]!.instructions)
    expect(lineHeat(profile, 'sharedWavefrontsExcess')[0]!.value).toBe(127472)
  })

  it.each([
    ['blocks', 1],
    ['clusters of a row of blocks', job.launches[0]!.grid[0]],
  ])('estimates its work from a few %s', (_, clusterBlocks) => {
    const launches = job.launches.map((launch) => ({ ...launch, clusterBlocks }))
    const sample = emulateJob({ ...job, launches, sample: true })
    const [x, y, z] = job.launches[0]!.grid
    expect(sample.stop).toBeNull()
    const { instructions, blocks } = sample.kernels[0]!
    expect(blocks % clusterBlocks).toBe(0)
    const whole = (instructions * x * y * z) / blocks
    expect(whole / answer.kernels[0]!.instructions).toBeCloseTo(1, 1)
    expect(sample.outputs.size).toBe(0)
  })

  it('is stopped at its limit, and reports the line', () => {
    const { stop } = emulateJob({ ...job, limit: 1000 })
    expect(stop).toMatchObject({ kind: 'too-long', launch: 0 })
    const words = inEnglish(stopReason({ ...stop!, detail: '2e6' }, places[0], (path) => path))
    expect(words).toMatch(
      /^The rung was stopped after 2 million warp instructions \(.*:\d+\); it may never finish\.$/,
    )
  })

  it('reports insufficient memory', () => {
    expect(emulateJob({ ...job, memoryBytes: 2 ** 17 }).stop).toMatchObject({ kind: 'memory' })
    expect(emulateJob({ ...job, workspaceBytes: 2 ** 40 }).stop).toMatchObject({ kind: 'memory' })
  })

  it('reports an access outside a buffer with its line, thread, and block', () => {
    const small = job.buffers.map((buffer) =>
      buffer.name === 'y' ? { ...buffer, bytes: buffer.bytes - 4 } : buffer,
    )
    const { kernels } = emulateJob({ ...job, buffers: small })
    const records = recordsOf(kernels, places, (path) => path.split('/').pop()!)
    expect(records).toHaveLength(1)
    const { record } = records[0]!
    expect(record).toMatchObject({
      message: 'Invalid __global__ write of size 4 bytes',
      place: { file: '03_square_tile.cu' },
      block: [16, 8, 0],
    })
    expect(record.place.line).toBeGreaterThan(0)
    expect(inEnglish(faultReason([record])!)).toContain(`03_square_tile.cu:${record.place.line}`)
  })
})

describe('a check', () => {
  const floats = (...values: number[]) => new Uint8Array(new Float32Array(values).buffer)
  const doubles = (...values: number[]) => new Uint8Array(new Float64Array(values).buffer)
  const output = (rule: CheckedOutput['rule'], actual: Uint8Array, expected: Uint8Array) => ({
    ...{ name: 'y', dtype: 'f32', shape: [2, 2], rule, actual, expected, special: false },
    scale: rule.kind === 'bound' ? doubles(1, 1, 1, 1) : null,
    mask: null as Uint8Array | null,
  })
  const nothing = { outOfBounds: [], changedInputs: [] }
  const one = (each: ReturnType<typeof output>) => verify([each as CheckedOutput], nothing)

  it.each([
    ['a bound', { kind: 'bound', bound: 1e-6 }],
    ['a tolerance', { kind: 'tolerance', rtol: 1e-6, atol: 0 }],
  ] as const)('with %s accepts close values and rejects NaN and distant values', (_, rule) => {
    expect(one(output(rule, floats(1, 2, 3, 4), doubles(1, 2, 3, 4)))).toMatchObject({
      passed: true,
      worstRelativeError: 0,
    })
    expect(one(output(rule, floats(1, 2, 3, 4.1), doubles(1, 2, 3, 4)))).toMatchObject({
      passed: false,
      mismatches: 1,
      firstMismatch: { buffer: 'y', index: [1, 1], expected: 4 },
    })
    expect(one(output(rule, floats(NaN, 2, 3, 4), doubles(1, 2, 3, 4)))).toMatchObject({
      passed: false,
      worstRelativeError: null,
      firstMismatch: { index: [0, 0], actual: null },
    })
    // Inputs may contain infinities and NaN. If they do, infinities and NaN in the results must
    // match exactly, including the sign of infinity.
    const specials = (...values: number[]) =>
      one({ ...output(rule, floats(...values), doubles(1, NaN, Infinity, 4)), special: true })
    expect(specials(1, NaN, Infinity, 4)).toMatchObject({ passed: true, worstRelativeError: 0 })
    for (const [wrong, mismatch] of [
      [[NaN, NaN, Infinity, 4], { index: [0, 0], expected: 1, actual: null }],
      [[1, 2, Infinity, 4], { index: [0, 1], expected: null, actual: 2 }],
      [[1, NaN, -Infinity, 4], { index: [1, 0], expected: 'Infinity', actual: '-Infinity' }],
      [[1, NaN, NaN, 4], { index: [1, 0], expected: 'Infinity', actual: null }],
      [[1, NaN, 3e38, 4], { index: [1, 0], expected: 'Infinity' }],
      [[1, NaN, Infinity, Infinity], { index: [1, 1], expected: 4, actual: 'Infinity' }],
    ] as const)
      expect(specials(...wrong)).toMatchObject({
        ...{ passed: false, mismatches: 1, worstRelativeError: null },
        firstMismatch: mismatch,
      })
    expect(one(output(rule, floats(NaN, 2, 3, 4), doubles(NaN, 2, 3, 4))).passed).toBe(false)
  })

  it('that is exact also accepts 0 for -0, but no other value', () => {
    const exact = { kind: 'exact' } as const
    expect(one(output(exact, floats(0, 1, 2, 3), floats(-0, 1, 2, 3))).passed).toBe(true)
    expect(one(output(exact, floats(0, 1, 2, 3), floats(0, 1, 2, 4))).mismatches).toBe(1)
  })

  it('that is exact distinguishes integers and NaNs that print the same', () => {
    const words = (...values: bigint[]) => new Uint8Array(new BigInt64Array(values).buffer)
    const integers = output(
      { kind: 'exact' },
      words(2n ** 60n + 1n, -1n, 0n, 0n),
      words(2n ** 60n, -1n, 0n, 0n),
    )
    expect(one({ ...integers, dtype: 'i64' }).firstMismatch).toMatchObject({
      ...{ expected: '1152921504606846976', actual: '1152921504606846977' },
    })
    const bits = (...values: number[]) => new Uint8Array(new Uint32Array(values).buffer)
    const nans = output({ kind: 'exact' }, bits(0x7fc00001, 0, 0, 0), bits(0x7fc00000, 0, 0, 0))
    expect(one(nans).firstMismatch).toMatchObject({
      ...{ expected: 'NaN (0x7fc00000)', actual: 'NaN (0x7fc00001)' },
    })
  })

  it('skips masked elements', () => {
    const rule = { kind: 'tolerance', rtol: 0, atol: 0 } as const
    const masked = output(rule, floats(1, 9, NaN, 9), doubles(1, 2, NaN, 4))
    const mask = new Uint8Array([1, 0, 0, 0xff])
    expect(one({ ...masked, mask })).toMatchObject({
      ...{ mismatches: 1, worstRelativeError: 1.25 },
      firstMismatch: { index: [1, 1] },
    })
    expect(firstNan(masked.expected, mask)).toBeNull()
    expect(firstNan(masked.expected)).toBe(2)
  })

  it('fails if the rung changed an input', () => {
    expect(verify([], { outOfBounds: [], changedInputs: ['x'] }).passed).toBe(false)
  })
})

describe('a size', () => {
  const task = {
    ...{ sizes: { n: { max: 1e9 } }, scalars: {}, options: {}, buffers: {} },
    work: { flops: '2*n*n*n', reads: '8*n*n', writes: '4*n*n' },
  } as never
  const at = (n: number) => ({ sizes: { n }, scalars: {}, options: {} })

  it('is halved until emulation takes only seconds', () => {
    expect(emulatedProblem(task, at(4096)).sizes).toEqual({ n: 512 })
    expect(emulatedProblem(task, at(100)).sizes).toEqual({ n: 100 })
    expect(shrunk(task, at(7), () => false).sizes).toEqual({ n: 1 })
  })

  it('is halved if buffers are large, even if the kernel reads only a small part of them', () => {
    const sparse = {
      ...(task as object),
      buffers: { table: { dtype: 'f32', shape: ['n', 1000], access: 'in' } },
      work: { flops: 'n', reads: '4*n', writes: '4*n' },
    } as never
    // The total size of the buffers shrinks from 1.6 GB to 100 MB.
    expect(emulatedProblem(sparse, at(400_000)).sizes).toEqual({ n: 25_000 })
  })

  it('does not change if it is fixed', () => {
    const built = { ...(task as object), sizes: { n: {}, head: { fixed: true } } } as never
    const problem = { ...at(4096), sizes: { n: 4096, head: 128 } }
    expect(emulatedProblem(built, problem).sizes).toEqual({ n: 512, head: 128 })
    expect(shrunk(built, problem, () => false).sizes).toEqual({ n: 1, head: 128 })
  })

  it.each([
    // Halving n once more would violate the step of 128.
    [['n % 128 == 0'], { n: 384, m: 9 }, { n: 128, m: 1 }],
    // The constraint ties the two sizes together. The sizes are halved together for as long as
    // possible.
    [['n == 4 * m'], { n: 96, m: 24 }, { n: 12, m: 3 }],
    // A scalar determines the step of n, and m has a lower bound.
    [['n % step == 0', 'm >= 5'], { n: 90, m: 40 }, { n: 3, m: 5 }],
    // No smaller size satisfies the constraint.
    [['n == 1000'], { n: 1000, m: 8 }, { n: 1000, m: 1 }],
  ])('satisfies the constraints %j', (constraints, from, to) => {
    const constrained = { ...(task as object), sizes: { n: {}, m: {} }, constraints } as never
    const problem = { sizes: from, scalars: { step: 3 }, options: {} }
    const seen: Sizes[] = []
    const least = shrunk(constrained, problem, ({ sizes }) => {
      seen.push(sizes)
      return false
    })
    expect(least.sizes).toEqual(to)
    for (const sizes of seen)
      expect(brokenConstraints(constrained, { ...problem, sizes })).toEqual([])
  })
})
