/**
 * Compares the built-in profiles of a program with ncu's own output. The profiles are from before
 * and after the program's norm and activation were fused.
 */
import { describe, expect, it } from 'vitest'
import { readNcuCsv } from '../../../src-main/parsers/ncu/ncu-csv-stream'
import { parseNcuRawCsv, type NcuLaunch } from '../../../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../../../src-main/parsers/ncu/ncu-metrics'
import { readRaw } from '../../../src-main/adapters/tools/raw-files'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import { previewKernels } from '../../../src-main/domain/programs/choose'
import { listRecordings } from '../../../src-main/services/sessions/recordings'
import { openSession } from '../../../src-main/services/sessions/open-session'
import { formatMs } from '../../../src-main/domain/metrics/units'
import { startRun } from '../../../src-main/services/targets/start-run'
import { toPreview } from '../../../src-main/services/programs/nothing'
import { printedSummary, stepsOf } from '../../../src-main/domain/report/summary'
import { whyOf } from '../../../src-main/domain/why/why'
import { recordingsDir, setupIn, shippedKernels, tempDir } from '../support'
import { parseKernelName } from '../../../src-main/domain/programs/kernel-names'
import { profiledTime } from '../../../src-main/domain/programs/profiled-time'
import { whyOfSteps } from '../../../src-main/domain/why/why-steps'

const names = ['feed-forward-h200', 'feed-forward-h200-fused'] as const

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text)
}

/** Returns ncu's output for a call. */
const saidByNcu = async (folder: string, key: string): Promise<string> =>
  (await readRaw(folder, key))!.stdout

/**
 * Returns a kernel key without template arguments and namespaces. ncu's raw page contains both, but
 * ncu's launch table contains neither.
 */
const keyOf = (name: string, { grid, block }: Pick<NcuLaunch, 'grid' | 'block'>): string =>
  JSON.stringify([parseKernelName(name).base, grid, block])

describe('recorded programs', async () => {
  const setup = setupIn(await tempDir(), { kernelsDir: shippedKernels })
  const opened = await Promise.all(names.map((name) => openSession(setup, `recorded:${name}`)))
  const [before, after] = opened.map(({ session }) => session) as [
    (typeof opened)[0]['session'],
    (typeof opened)[0]['session'],
  ]

  it('are listed with ladder recordings, but cannot be replayed as runs', async () => {
    const listed = await listRecordings(recordingsDir)
    expect(
      listed.filter(({ summary }) => summary.problem === null).map(({ name }) => name),
    ).toEqual([...names].reverse())
    const run = startRun(
      { ladder: 'program', target: `recorded:${names[0]}`, params: {}, profile: 'card' },
      {
        ...{ ...setup, appVersion: '0.0.0-test', emit: () => undefined },
        signal: new AbortController().signal,
      },
    )
    await expect(run).rejects.toMatchObject({ kind: 'input' })
  })

  it.each(names)('%s has the launches, times, and total of its ncu table', async (name) => {
    const { session, folder } = opened[names.indexOf(name)]!
    const launches: NcuLaunch[] = []
    await readNcuCsv(once(await saidByNcu(folder, 'ncu/preview-log')), (launch) => {
      launches.push(launch)
      return true
    })
    const kernels = previewKernels(launches.flatMap(toPreview))
    expect(session.rungs.map(({ profiledTime: time }) => time)).toEqual(
      kernels.map(({ launchesMs }) => profiledTime(launchesMs)),
    )
    // Parse ncu's printed times, which are in nanoseconds, without our parsers.
    const printed = (await saidByNcu(folder, 'ncu/preview-log'))
      .split('\n')
      .flatMap((line) => /"gpu__time_duration\.sum","ns","([\d,]+)"$/.exec(line)?.[1] ?? [])
      .map((text) => Number(text.replaceAll(',', '')))
    expect(session.program).toMatchObject({ launches: printed.length, exitCode: 0 })
    const total = printed.reduce((sum, ns) => sum + ns, 0)
    expect(session.program!.totalMs * 1e6).toBeCloseTo(total, 6)
  })

  it.each(names)("%s has the counters on its report's raw page", async (name) => {
    const { session, folder } = opened[names.indexOf(name)]!
    const { launches } = parseNcuRawCsv(await saidByNcu(folder, 'ncu/raw'))
    let compared = 0
    for (const { profile, metrics } of session.rungs) {
      const [kernel] = profile!.kernels
      // Some kernels were timed but not profiled.
      if (metrics.achievedOccupancy?.value == null) continue
      /**
       * Returns the metrics that differ. ncu prints two decimals, which affects quotients. The
       * current registry has more metrics than the recording requested.
       */
      const unequal = (launch: NcuLaunch): string[] =>
        Object.entries(toMetrics([launch], 'standard')).flatMap(([id, { value }]) => {
          const own = metrics[id]?.value
          if (own == null || value === null) return []
          compared += 1
          return Math.abs(own - value) < 0.006 + 1e-3 * Math.abs(own)
            ? []
            : [`${id} ${own} ${value}`]
        })
      // Some kernels from one function differ only in template arguments, so several launches can
      // have the same key.
      const found = launches
        .filter((one) => keyOf(one.kernelName, one) === keyOf(kernel!.name, kernel!))
        .map(unequal)
      expect(found, kernel!.name).toContainEqual([])
    }
    expect(compared).toBeGreaterThan(150)
  })

  it('are reported without treating any kernel as a step from the previous kernel', () => {
    expect(whyOfSteps(before)).toEqual([])
    const [a, b] = before.rungs.map((rung) => ({ session: before, rung }))
    expect(whyOf(a!, b!)).toMatchObject({ causes: [], reason: { key: 'why.otherKernel' } })
    expect(printedSummary(before, stepsOf(before)).unpaid).toEqual([])
  })

  it('are summarized by their kernels, launches, GPU time, and hottest kernel', () => {
    const inWords = (session: typeof before): string =>
      printedSummary(session, stepsOf(session))
        .best.flat()
        .map((part) => (typeof part === 'string' ? part : part.code))
        .join('')
    expect(inWords(before)).toBe(
      'GPU time under ncu: 425 µs (kernels: 17, launches: 46). The hottest kernel is vectorized_elementwise_kernel<8, at::native:…ray<char *, 3>>, grid 8192, block 128 #1: 67.6 µs, 15.9 % of the GPU time.',
    )
    // For an imported session, the program's total GPU time is unknown.
    const { program: _program, ...rest } = before
    const only: typeof before = {
      ...rest,
      target: { kind: 'imported', name: 'it.ncu-rep' },
      rungs: before.rungs.slice(0, 1),
    }
    const [{ title, profiledTime: time }] = only.rungs as [(typeof only.rungs)[0]]
    const all = `GPU time under ncu: ${formatMs(time!.totalMs)} (kernels: 1, launches: ${time!.launches}).`
    expect(inWords(only)).toBe(
      `${all} The hottest kernel is ${title}: ${formatMs(time!.totalMs)}, 100.0 % of the GPU time.`,
    )
    expect(inWords({ ...before, rungs: [] })).toContain('No rung was verified')
  })

  it('have no steps when imported, because their kernels are independent', () => {
    const { program: _program, ...rest } = before
    const imported: typeof before = { ...rest, target: { kind: 'imported', name: 'it.ncu-rep' } }
    const { jumps, unpaid } = printedSummary(imported, stepsOf(imported))
    expect([jumps, unpaid]).toEqual([[], []])
  })

  it('before and after the fusion are compared by kernel and by total time', () => {
    const { total, pairs, changes } = compareSessions(before, after)
    expect(total.timeA).toBeCloseTo(0.425152, 9)
    expect(total.timeB).toBeCloseTo(0.161824, 9)
    const functionOf = (session: typeof before, id: string): string =>
      parseKernelName(
        session.rungs.find((rung) => rung.id === id.split('/')[0])!.profile!.kernels[0]!.name,
      ).base
    expect(pairs.map(({ a, b }) => [functionOf(before, a), functionOf(after, b)])).toEqual([
      [
        'nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT',
        'nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT',
      ],
      ['nvjet_sm90_tst_128x128_64x6_2x1_v_badd_NNT', 'nvjet_sm90_tst_128x128_64x6_2x1_v_badd_NNT'],
      ['vectorized_elementwise_kernel', 'vectorized_elementwise_kernel'],
      ['unrolled_elementwise_kernel', 'unrolled_elementwise_kernel'],
      ['reduce_kernel', 'reduce_kernel'],
    ])
    expect(
      changes.map(({ kind, a, b }) => [kind, a.length, b.map((id) => functionOf(after, id))]),
    ).toEqual([
      ['fused', 6, ['vectorized_layer_norm_kernel']],
      ['fused', 6, ['bias_gelu_kernel']],
    ])
  })
})
