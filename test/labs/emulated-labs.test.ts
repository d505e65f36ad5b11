/**
 * Tests every shipped lab without a GPU. The solution must pass every check that the emulator can
 * judge. The starter must fail exactly the checks listed in the lab, except time checks.
 */
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readCatalog } from '../../src-main/adapters/catalog/catalog'
import { labsDir, readLabs, type LabFolder } from '../../src-main/adapters/labs/lab-folders'
import { noAnswers, type LabOutcome } from '../../src-main/domain/labs/outcome'
import { checkLab } from '../../src-main/services/labs/check'
import { keeping, keptNvcc } from '../kept-nvcc'
import { useOneCore } from '../one-core'
import { said } from '../support'
import { setupIn, shippedKernels, tempDir } from '../services/support'
import { emulatedMetrics } from '../../src-main/domain/emulation/emulated-metrics'

useOneCore()

const { labs } = await readLabs(labsDir(shippedKernels), await readCatalog(shippedKernels), [])
const kept = await keptNvcc('labs-emulated', { artifacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

async function outcomeOf(lab: LabFolder, source: string): Promise<LabOutcome> {
  const dir = await tempDir()
  const { outcome } = await checkLab(
    { lab, source, answers: noAnswers, target: 'emulated' },
    {
      assets: setupIn(dir, { kernelsDir: shippedKernels }).assets,
      machine: await kept.machine(),
      appVersion: '0.0.0-test',
      out: join(dir, 'attempt'),
      emit: () => undefined,
      signal: new AbortController().signal,
    },
  )
  return outcome
}

const idsOf = ({ checks }: LabOutcome, status: string): string[] =>
  checks.filter((check) => check.status === status).map(({ id }) => id)

const emulated = new Set([
  ...['wavesPerSm', 'theoreticalOccupancy', 'registersPerThread'],
  ...Object.entries(emulatedMetrics([], 'not emulated')).flatMap(([id, { reason }]) =>
    reason === 'not emulated' ? [] : [id],
  ),
])

/** Returns the checks that the emulator cannot judge. */
const unjudgedOf = ({ checks }: LabFolder['lab']): string[] =>
  checks.flatMap((check) =>
    check.kind === 'time' || (check.kind === 'metric' && !emulated.has(check.metric))
      ? [check.id]
      : [],
  )

/** Labs that are always tested. They cover matrix products, a reduction, and a data race. */
const usual = new Set(['01-coalescing', '02-shared-tile', '13-reduction'])

const emulates = (id: string, lab: LabFolder): void => {
  const unjudged = unjudgedOf(lab.lab)
  // `isAboutTime` is true if only checks that the emulator cannot judge distinguish the starter
  // from the solution.
  const isAboutTime = lab.lab.starterFails!.every((check) => unjudged.includes(check))

  it('is not decided by time alone, except for the lab on prefetching', () => {
    if (isAboutTime) expect(id).toBe('08-prefetch')
  })

  it('passes its solution in all checks except time', async () => {
    const outcome = await outcomeOf(lab, lab.solution)
    expect(idsOf(outcome, 'failed')).toEqual([])
    expect(idsOf(outcome, 'unavailable')).toEqual(unjudged)
    expect(outcome.status).toBe(isAboutTime ? 'unavailable' : 'passed')
    if (isAboutTime) expect(said(outcome.reason)).toMatch(/depends on times \(waiting, fast\)/)
  })

  it('fails its starter at exactly the checks that the lab lists', async () => {
    const fails = lab.lab.starterFails!
    // A wrong result also fails the time check.
    const left = fails.includes('right') ? [] : unjudged
    const outcome = await outcomeOf(lab, lab.starter)
    expect(idsOf(outcome, 'failed')).toEqual(fails.filter((check) => !left.includes(check)))
    expect(idsOf(outcome, 'unavailable')).toEqual(left)
    expect(outcome.status).toBe(isAboutTime ? 'unavailable' : 'failed')
  })
}

const each = labs.map((lab) => [lab.id, lab] as const)
describe.each(each.filter(([id]) => usual.has(id)))('%s, emulated', emulates)
describe.each(each.filter(([id]) => !usual.has(id)))(
  '%s, emulated',
  { tags: ['thorough'] },
  emulates,
)

/** Returns the outcome of a lab's solution after a change to its source. */
const changedSolution =
  (id: string) =>
  async (change: (text: string) => string): Promise<LabOutcome> => {
    const lab = labs.find((one) => one.id === id)!
    const changed = change(lab.solution)
    expect(changed).not.toBe(lab.solution)
    return outcomeOf(lab, changed)
  }

describe('a submission for lab 2 whose host code detects race checks', () => {
  const written = changedSolution('02-shared-tile')

  it('does not pass with a kernel that races in unchecked launches', async () => {
    const outcome = await written((text) =>
      text
        .replace('__global__', 'template <bool kSafe>\n__global__')
        .replace('__syncthreads();  // all threads', 'if (kSafe) __syncthreads();  // all threads')
        .replace(
          '  gemmLab<<<',
          '  const auto kernel = m == 65 ? gemmLab<true> : gemmLab<false>;\n  kernel<<<',
        ),
    )
    expect(idsOf(outcome, 'failed')).toContain('race')
  })
})

describe('a submission for lab 7 other than its solution', { tags: ['thorough'] }, () => {
  const written = changedSolution('07-bank-conflicts')

  it('passes if its swizzle is written differently', async () => {
    const outcome = await written((text) =>
      text.replace(/return d \* kStrideA \+ \(\(r & ~7\).*;/, 'return (d << 7 | r) ^ d << 2;'),
    )
    expect(idsOf(outcome, 'failed')).toEqual([])
    expect(outcome.status).toBe('passed')
  })

  it('avoids conflicts with padding, but uses more shared memory than the lab allows', async () => {
    const outcome = await written((text) => text.replace('kLayout = 2', 'kLayout = 1'))
    expect(idsOf(outcome, 'failed')).toEqual(['no-padding'])
  })

  it('does not pass if its padding misaligns four floats', async () => {
    const outcome = await written((text) =>
      text.replace('kLayout = 2', 'kLayout = 1').replace('BM + 4', 'BM + 1'),
    )
    expect(outcome.status).toBe('failed')
    const right = outcome.checks.find(({ id }) => id === 'right')!
    expect(right.status).toBe('failed')
    expect(said(right.sentence)).toMatch(/misaligned.*lab\.cu:\d+/i)
  })
})

describe('a submission for lab 16 other than its solution', { tags: ['thorough'] }, () => {
  const written = changedSolution('16-attention')

  it("passes if it gets each lane's maximum separately and computes weights with exp2f", async () => {
    const outcome = await written((text) =>
      text
        .replace(
          /__device__ float largestOfRow[^}]*}/,
          `__device__ float largestOfRow(float value) {
  const int first = threadIdx.x & 28;
  float largest = -INFINITY;
  for (int i = 0; i < 4; ++i) largest = fmaxf(largest, __shfl_sync(~0u, value, first + i));
  return largest;
}`,
        )
        .replace('klPowerOfTwo(own - shift)', 'exp2f(own - shift)'),
    )
    expect(idsOf(outcome, 'failed')).toEqual([])
    expect(outcome.status).toBe('passed')
  })

  it('fails if keys 8 to 15 are swapped with the same keys eight rows down', async () => {
    const outcome = await written((text) =>
      text.replace('a[i] = klPack(', 'a[i % 2 * 2 + i / 2] = klPack('),
    )
    expect(outcome.status).toBe('failed')
    expect(idsOf(outcome, 'failed')).toEqual(expect.arrayContaining(['right', 'masked']))
  })
})

it('the output of nvcc is stored for every lab in this file', () => {
  if (!keeping) expect(kept.stale, 'keep it anew with KERNEL_LADDER_KEEP=1').toEqual([])
})
