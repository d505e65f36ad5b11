/** Tests kernels that were fused, split, or reordered under the same names. */
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import { functorsOf } from '../../../src-main/domain/programs/functors'
import { briefName, shortName } from '../../../src-main/domain/programs/kernel-names'
import { profiledTime } from '../../../src-main/domain/programs/profiled-time'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'

const base = await readSession('resources/recordings/gemm-fp32-h200-1024')

interface Sample {
  name: string
  ms: number
  grid?: number
  launches?: number
  instructions?: number
  l2Bytes?: number
}

const counted = (value: number | undefined, unit: 'inst' | 'bytes') =>
  value === undefined ? [] : [{ value, unit, evidence: 'measured' as const }]

const rungOf = (sample: Sample, index: number): RungResult => {
  const { name, ms, grid = 64, launches = 1 } = sample
  const [instructions] = counted(sample.instructions, 'inst')
  const [l2Bytes] = counted(sample.l2Bytes, 'bytes')
  return {
    ...base.rungs[0]!,
    id: `${String(index).padStart(2, '0')}_kernel`,
    title: name,
    timing: null,
    metrics: { ...(instructions && { instructions }), ...(l2Bytes && { l2Bytes }) },
    profiledTime: profiledTime(Array<number>(launches).fill(ms))!,
    profile: {
      passes: 1,
      kernels: [{ name, grid: [grid, 1, 1], block: [256, 1, 1], passes: 1 }],
    },
  }
}

const program = (id: string, samples: readonly Sample[]): Session => ({
  ...base,
  id,
  target: { kind: 'imported', name: `${id}.ncu-rep` },
  problem: null,
  rungs: samples.map(rungOf),
})

const compare = (a: readonly Sample[], b: readonly Sample[]) =>
  compareSessions(program('a', a), program('b', b))

/** Returns a kernel name in PyTorch's form. */
const each = (operation: string, arrays: number): string =>
  `void at::native::vectorized_elementwise_kernel<4, ${operation}, std::array<char *, ${arrays}>>(int, T2, T3)`
const multiply = each(
  'at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>',
  3,
)
const scale = each(
  'at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>',
  2,
)
const add = each('at::native::CUDAFunctor_add<float>', 3)
const tanh = each(
  'at::native::tanh_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 2)]::operator ()() const::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)]',
  2,
)
const gelu = each(
  'at::native::GeluCUDAKernelImpl(at::TensorIteratorBase &, at::native::GeluType)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)]',
  2,
)
const chain: Sample[] = [multiply, multiply, scale, add, scale, tanh, add, scale, multiply].map(
  (name) => ({ name, ms: name === multiply ? 0.0227 : 0.018 }),
)
const whole: Sample[] = [{ name: gelu, ms: 0.0211 }]
const fill: Sample = { name: 'void fill<float>(float *)', ms: 0.01 }

describe('nine elementwise kernels replaced by one GELU', () => {
  it.each([
    ['between kernels that stayed', [fill], [{ name: 'gemm', ms: 0.3 }]],
    ['alone', [], []],
  ] as const)('%s are reported as one fusion and no pair', (_, before, after) => {
    const { fused, pairs, onlyA, onlyB, answer, comparable } = compare(
      [...before, ...chain, ...after],
      [...before, ...whole, ...after],
    )
    expect(comparable.ok).toBe(true)
    expect(fused).toHaveLength(1)
    expect(fused[0]).toMatchObject({ verdict: 'faster' })
    expect([fused[0]!.from.length, fused[0]!.to.length]).toEqual([9, 1])
    const sum = chain.reduce((all, { ms }) => all + ms, 0)
    expect(fused[0]!.timeA).toBeCloseTo(sum, 12)
    expect(fused[0]!.ratio).toBeCloseTo(0.0211 / sum, 12)
    expect([pairs.length, onlyA, onlyB]).toEqual([before.length + after.length, [], []])
    const [first] = answer.map(inEnglish)
    expect(first).toContain(
      'Fused: 9 kernels became 1 kernel, 176 µs → 21.1 µs, 0.120× of the time',
    )
    expect(first).toContain('GeluCUDAKernelImpl')
  })

  it('are reported as a split if the sessions are swapped', () => {
    const { fused, answer } = compare([fill, ...whole], [fill, ...chain])
    expect(fused).toMatchObject([{ from: ['01_kernel'], verdict: 'slower' }])
    expect(fused[0]!.to).toHaveLength(9)
    expect(inEnglish(answer[0]!)).toContain('Split: 1 kernel became 9 kernels')
  })

  it('are not reported as a fusion if the new kernel moves more bytes', () => {
    const bytes = (samples: Sample[], l2Bytes: number) =>
      samples.map((one) => ({ ...one, l2Bytes }))
    const { fused, changes, onlyA } = compare(
      [fill, ...bytes(chain, 1e6)],
      [fill, ...bytes(whole, 12e6)],
    )
    expect([fused, changes.map(({ kind }) => kind), onlyA.length]).toEqual([[], ['replaced'], 9])
  })

  it('are reported once for all iterations of a loop', () => {
    const step = (own: Sample[]) => [fill, ...own]
    const { fused, answer } = compare(
      [step(chain), step(chain), step(chain)].flat(),
      [step(whole), step(whole), step(whole)].flat(),
    )
    expect(fused).toHaveLength(3)
    expect(answer.map(inEnglish).filter((line) => line.startsWith('Fused'))).toEqual([
      expect.stringContaining('27 kernels became 3 kernels'),
    ])
  })
})

describe('a kernel replaced by several kernels, one with the same name,', () => {
  const reduce = (ms: number, instructions?: number): Sample => ({
    ...{ name: 'reduce(const float *, float *, int)', ms },
    ...(instructions === undefined ? {} : { instructions }),
  })
  const named = (name: string, ms: number, instructions?: number): Sample => ({
    ...reduce(ms, instructions),
    name: `${name}(float *, int)`,
  })
  const store: Sample = { name: 'store(float *)', ms: 0.01 }

  it.each([
    ['by the name of the other', [reduce(1)], [reduce(0.5), named('reduce_final', 0.1)]],
    ['before which the other runs', [reduce(1)], [named('reduce_first', 0.1), reduce(0.5)]],
    ['by running twice', [reduce(1, 1e6)], [reduce(0.5, 5e5), reduce(0.1, 1e3)]],
    [
      'by the work that it left to the other',
      [reduce(1, 1e6)],
      [reduce(0.5, 4e5), named('combine', 0.1, 5e5)],
    ],
  ])('is recognized as a split %s', (_, before, after) => {
    for (const [a, b, kind] of [
      [before, after, 'Split: 1 kernel became 2 kernels'],
      [after, before, 'Fused: 2 kernels became 1 kernel'],
    ] as const) {
      const { pairs, fused, onlyA, onlyB, answer } = compare(
        [fill, ...a, store],
        [fill, ...b, store],
      )
      expect([pairs.length, fused.length, onlyA, onlyB]).toEqual([2, 1, [], []])
      expect(inEnglish(answer[0]!)).toContain(kind)
    }
  })

  it.each([
    ['does as much as before', [reduce(1)], [reduce(1), named('reduce_final', 0.1)]],
    ['stands beside other work', [reduce(1, 1e6)], [reduce(0.5, 5e5), named('log', 0.1, 1e3)]],
    ['is faster beside a kernel of another name', [reduce(1)], [reduce(0.5), named('log', 0.4)]],
  ])('is not a split if it %s', (_, before, after) => {
    const { pairs, fused, onlyB } = compare([fill, ...before, store], [fill, ...after, store])
    expect([pairs.length, fused, onlyB.length]).toEqual([3, [], 1])
  })
})

it('a kernel that was renamed and launched one more time is reported as replaced, not split', () => {
  const of = (name: string): Sample => ({ name: `${name}(const float *, int)`, ms: 0.4 })
  const { fused, changes } = compare(
    [of('norm'), of('norm'), of('norm')],
    [of('wide'), of('wide'), of('wide'), of('wide')],
  )
  expect([fused, changes.map(({ kind }) => kind)]).toEqual([[], ['replaced']])
})

it('a session without times does not claim that the runner timed its kernels', () => {
  const [a, b] = [program('a', [fill]), program('b', [fill])]
  const untimed = { ...a, rungs: a.rungs.map(({ profiledTime: _, ...rung }) => rung) }
  const { answer, comparable, pairs } = compareSessions(untimed, b)
  expect([comparable.ok, pairs.length]).toEqual([true, 1])
  expect(answer.map(inEnglish)).toEqual(['Not everything was timed, so there is no ratio.'])
})

describe('a functor', () => {
  it.each([
    [scale, ['AUnaryFunctor<MulFunctor>']],
    [tanh, ['tanh_kernel_cuda']],
    [gelu, ['GeluCUDAKernelImpl']],
    ['void tile<32, float, true>(float *)', []],
    [
      'void reduce<512, 1, at::ReduceOp<float, at::MeanOps<float, float>, unsigned int, 4>>(T3)',
      ['ReduceOp<MeanOps>'],
    ],
  ])('is parsed from the template arguments of %s', (name, expected) => {
    const template = /^[^<]*<(.*)>\(/.exec(name)![1]!
    expect(functorsOf(template)).toEqual(expected)
  })

  it('is included in the short name, even with long arguments', () => {
    expect(shortName(scale)).toBe('vectorized_elementwise_kernel<4, AUnaryFunctor<MulFunctor>>')
    expect(briefName(gelu)).toBe('GeluCUDAKernelImpl')
    expect(briefName('tile<float>(float *)')).toBe('tile<float>')
  })

  it('distinguishes kernels from one template, but not element types', () => {
    expect(compare([{ name: multiply, ms: 1 }], [{ name: gelu, ms: 1 }]).pairs).toEqual([])
    const half = multiply.replaceAll('float', 'c10::Half')
    const { pairs } = compare([{ name: multiply, ms: 1 }], [{ name: half, ms: 1 }])
    expect(pairs.map(({ by }) => by)).toEqual(['function+functor+grid+block'])
  })
})

describe('kernels with equal names', () => {
  const of = (launches: number, instructions?: number): Sample => ({
    ...{ name: 'step(float *)', ms: 0.001, launches },
    ...(instructions === undefined ? {} : { instructions }),
  })
  const [five, ten, fifteen, twenty] = [of(5, 1e3), of(10, 2e4), of(15, 3e5), of(20, 4e6)]
  const launchesOf = ({ pairs }: ReturnType<typeof compare>) =>
    pairs.map(({ sideA, sideB }) => [sideA.launches, sideB.launches])

  it('are paired by their work, regardless of their position', () => {
    const found = compare([five, ten, fifteen, twenty], [twenty, five, fifteen, ten])
    expect(launchesOf(found)).toEqual([5, 10, 15, 20].map((one) => [one, one]))
    for (const { by } of found.pairs) expect(by).toMatch(/\+work$/)
  })

  it('are paired by similar work if each kernel does slightly less work', () => {
    const less = [twenty, five, fifteen, ten].map((one) => ({
      ...one,
      instructions: one.instructions! * 0.9,
    }))
    expect(launchesOf(compare([five, ten, fifteen, twenty], less))).toEqual(
      [5, 10, 15, 20].map((one) => [one, one]),
    )
  })
})

describe('unusual input', () => {
  it('from different GPUs gets a reason instead of ratios', () => {
    const [a, b] = [program('a', chain), program('b', whole)]
    const found = compareSessions(a, { ...b, device: { ...b.device!, name: 'NVIDIA T4' } })
    expect(found.comparable.ok).toBe(false)
    expect(found.comparable.reasons.map(inEnglish).join(' ')).toContain('The GPUs differ')
    const ratios = [found.total, ...found.pairs, ...found.fused, ...found.changes]
    expect(ratios.map(({ ratio }) => ratio)).toEqual(ratios.map(() => null))
    expect(found.answer.map(inEnglish).join(' ')).toMatch(/cannot be compared.*GPUs differ/)
  })

  it.each([
    [[], whole],
    [whole, []],
    [[], []],
  ])('without kernels gets an answer that names the empty session', (a, b) => {
    const { answer, comparable, pairs, fused } = compare(a, b)
    expect([comparable.ok, pairs, fused]).toEqual([false, [], []])
    expect(answer.map(inEnglish).join(' ')).toContain('has no kernels')
  })

  it('with tens of thousands of launches takes linear time', { timeout: 60_000 }, () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        name: `k${n % 7}(int)`,
        ms: 1,
        instructions: 10 + (n % 11),
      }))
    const seconds = (count: number): number => {
      const [a, b] = [program('a', many(count)), program('b', many(count).slice(3).reverse())]
      const started = performance.now()
      expect(compareSessions(a, b).pairs.length).toBeGreaterThan(0.99 * count)
      return performance.now() - started
    }
    seconds(2_000)
    const [few, more] = [seconds(4_000), seconds(16_000)]
    expect(more).toBeLessThan(3 * 4 * few)
  })
})
