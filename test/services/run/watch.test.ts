/** Uses simulated runs to test the loop that reruns a folder after every save. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { nothingWatched, watchRound, type Watched } from '../../../src-main/domain/analysis/watched'
import { message } from '../../../src-main/domain/messages/message'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { toErrorShape } from '../../../src-main/domain/errors'
import { inEnglish } from '../../../src-main/domain/text/english'
import { watchFolder, type WatchNews } from '../../../src-main/services/run/watch'
import { recordingsDir, root, tempDir, rungText, sumsFiles, sumsYaml } from '../support'
import { describeChange } from '../../../src-main/hosts/cli/commands/watch-run'

const recorded = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
const shipped = await readCatalog(join(root, 'cuda-kernels'))
const timed = recorded.rungs.find(({ status }) => status === 'ok')!

const rungOf = (id: string, factor: number): RungResult => {
  const timing = timed.timing!
  const samplesMs = timing.samplesMs.map((ms) => ms * factor)
  return {
    ...timed,
    id,
    timing: { ...timing, samplesMs, medianMs: timing.medianMs * factor },
  }
}
const failed = (id: string): RungResult => ({
  ...timed,
  id,
  status: 'failed',
  reason: message('records.notCompiling', { what: 'no' }),
  timing: null,
  verify: null,
})
const sessionOf = (rungs: RungResult[]): Session => ({
  ...recorded,
  ladder: { ...recorded.ladder, reference: null },
  rungs,
})

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/**
 * Watches a folder with simulated runs. Each run returns a session of the requested rungs, with
 * times scaled by `state.factors`.
 */
async function watched(wanted?: readonly string[]) {
  const folder = await tempDir()
  for (const [name, text] of Object.entries(sumsFiles())) await writeFile(join(folder, name), text)
  const abort = new AbortController()
  ends.push(() => abort.abort())
  const asked: string[][] = []
  const news: WatchNews[] = []
  const state = {
    factors: {} as Record<string, number | null>,
    /** Error that the next run throws, or null. */
    fail: null as Error | null,
    reached: null as string[] | null,
  }
  void watchFolder({
    folder,
    shipped,
    ...(wanted ? { rungs: wanted } : {}),
    signal: abort.signal,
    everyMs: 10,
    onNews: (one) => news.push(one),
    run: (rungs) => {
      asked.push(rungs)
      const { fail, reached } = state
      Object.assign(state, { fail: null, reached: null })
      if (fail) return Promise.reject(fail)
      if (reached?.length === 0) return Promise.resolve(null)
      return Promise.resolve(
        sessionOf(
          rungs.map((id): RungResult => {
            const factor = state.factors[id] === undefined ? 1 : state.factors[id]
            if (reached && !reached.includes(id))
              return { ...failed(id), status: 'not-run', build: null }
            return factor === null ? failed(id) : rungOf(id, factor)
          }),
        ),
      )
    },
  })
  const until = async (is: (last: WatchNews) => boolean): Promise<WatchNews> => {
    for (;;) {
      const last = news.at(-1)
      if (last && is(last)) return last
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  /** Saves a file and returns the watch events after the loop becomes idle. */
  const save = async (name: string, text: string): Promise<WatchNews> => {
    const before = asked.length
    await writeFile(join(folder, name), text)
    return until(({ phase }) => asked.length > before && phase !== 'running')
  }
  const verdicts = ({ rungs }: WatchNews) => rungs.map(({ id, verdict }) => `${id} ${verdict}`)
  await until(({ phase }) => phase === 'waiting')
  return { folder, asked, state, until, save, verdicts, news }
}

it('a watch that is stopped during a round reports the result and stops waiting', async () => {
  const folder = await tempDir()
  for (const [name, text] of Object.entries(sumsFiles())) await writeFile(join(folder, name), text)
  const abort = new AbortController()
  const news: WatchNews[] = []
  await watchFolder({
    folder,
    shipped,
    signal: abort.signal,
    everyMs: 10,
    onNews: (one) => news.push(one),
    run: (rungs) => {
      abort.abort()
      return Promise.resolve(sessionOf(rungs.map((id) => rungOf(id, 1))))
    },
  })
  expect(news.map(({ phase }) => phase)).not.toContain('waiting')
  expect(news.at(-1)?.rungs.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
})

/** Returns a session like that of a run on the emulated GPU, with counters but no times. */
const emulatedSession = (rungs: string[], sharedLoads: number): Session => ({
  ...sessionOf(
    rungs.map((id) => ({
      ...timed,
      id,
      timing: null,
      metrics: { sharedLoads: { value: sharedLoads, unit: 'inst', evidence: 'emulated' } },
    })),
  ),
  target: { kind: 'emulated', name: 'h200' },
})

describe('without times', () => {
  const round = (before: Watched, sharedLoads: number): Watched =>
    watchRound(before, emulatedSession(['a'], sharedLoads), ['a'])
  const first = round(nothingWatched, 4096)
  const countersOf = ({ rungs }: Watched) =>
    rungs[0]!.counters?.map(({ id, a, b, verdict }) => [id, a?.value, b?.value, verdict])

  it('a save is compared by its counters with the last successful run', () => {
    expect(countersOf(first)).toBeUndefined()
    const second = round(first, 1024)
    expect(countersOf(second)).toEqual([['sharedLoads', 4096, 1024, 'better']])
    expect(describeChange(second.rungs[0]!)).toBe(
      'a: ok.\n  Shared-memory loads: 4.10 k → 1.02 k, better',
    )
    const third = round(second, 1024)
    expect(describeChange(third.rungs[0]!)).toBe('a: ok. No counter changed.')
  })

  it('a save that changes the problem is reported with the reason that its counters are not compared', () => {
    const now = emulatedSession(['a'], 1024)
    const problem = { ...now.problem!, sizes: { ...now.problem!.sizes, k: 64 } }
    const { rungs } = watchRound(first, { ...now, problem }, ['a'])
    expect(describeChange(rungs[0]!)).toContain(
      'a: ok: unresolved. The problems differ: 1024³, alpha 1, beta 0 and 1024×1024×64,',
    )
  })

  it('a rung that fails still has the counters of its last successful run', () => {
    const broken = watchRound(first, { ...emulatedSession([], 0), rungs: [failed('a')] }, ['a'])
    expect(describeChange(broken.rungs[0]!)).toMatch(/^a: failed: broken\./)
    expect(countersOf(round(broken, 1024))).toEqual([['sharedLoads', 4096, 1024, 'better']])
  })
})

it('a change in time is printed with the changed counters below it', () => {
  const counted = (factor: number, sharedLoads: number): Session =>
    sessionOf([
      {
        ...rungOf('a', factor),
        metrics: { sharedLoads: { value: sharedLoads, unit: 'inst', evidence: 'measured' } },
      },
    ])
  const first = watchRound(nothingWatched, counted(1, 4096), ['a'])
  const { rungs } = watchRound(first, counted(0.5, 1024), ['a'])
  expect(describeChange(rungs[0]!)).toMatch(
    /^a: .* µs → .* µs, −50.* %: faster\.\n {2}Shared-memory loads: 4.10 k → 1.02 k, better$/,
  )
})

describe('a save', () => {
  it('runs the changed rung and the reference', async () => {
    const { asked, state, save, verdicts } = await watched()
    expect(asked).toEqual([['a', 'b', 'c']])
    state.factors = { b: 0.5 }
    const after = await save('b.cu', rungText('b', '// 2'))
    expect(asked.at(-1)).toEqual(['a', 'b'])
    expect(verdicts(after)).toEqual(['a same', 'b faster', 'c new'])
    expect(after.rungs.map(({ fresh }) => fresh)).toEqual([true, true, false])
    expect(after.rungs[1]!.change!.ratio).toBeCloseTo(0.5)
  })

  it('to the reference, or to a file that all rungs include, runs all rungs', async () => {
    const { asked, save } = await watched()
    await save('parts.cuh', '// 2')
    await save('reference.cu', '// 2')
    await save('ladder.yaml', sumsYaml.replace('rtol: 1e-5', 'rtol: 1e-4'))
    expect(asked.slice(1)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
  })

  it("that changes only the ladder's texts does not start a run", async () => {
    const { folder, asked, save } = await watched()
    await writeFile(join(folder, 'ladder.yaml'), sumsYaml.replace('Of rows.', 'Of columns.'))
    await save('c.cu', rungText('c', '// 2'))
    expect(asked).toEqual([
      ['a', 'b', 'c'],
      ['a', 'c'],
    ])
  })

  it('to a rung that is not watched does not start a run', async () => {
    const { folder, asked, save } = await watched(['b'])
    await writeFile(join(folder, 'c.cu'), rungText('c', '// 2'))
    await save('b.cu', rungText('b', '// 2'))
    expect(asked).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  })

  it('is compared with the last run in which the saved rung succeeded', async () => {
    const { state, save, verdicts } = await watched()
    state.factors = { b: null }
    expect(verdicts(await save('b.cu', rungText('b', '// 2')))[1]).toBe('b broken')
    state.factors = { b: 2 }
    const after = await save('b.cu', rungText('b', '// 3'))
    expect(verdicts(after)[1]).toBe('b slower')
    expect(after.rungs[1]).toMatchObject({ beforeMs: timed.timing!.medianMs })
  })
})

describe('the watch continues', () => {
  it('after a fault in the ladder or a rung, and reports the location of the fault', async () => {
    const { folder, asked, until, save } = await watched()
    await writeFile(join(folder, 'ladder.yaml'), sumsYaml.replace('summary', 'sumary'))
    const faulty = await until(({ phase }) => phase === 'faulty')
    expect(inEnglish(faulty.error!.remedy!)).toContain('ladder.yaml:4:1: ')
    await writeFile(join(folder, 'ladder.yaml'), sumsYaml)
    await until(({ phase }) => phase === 'waiting')
    expect(asked).toHaveLength(1)
    await writeFile(join(folder, 'b.cu'), '// @rung b\n// @idae x\n')
    const broken = await until(({ phase }) => phase === 'faulty')
    expect(inEnglish(broken.error!.message)).toContain('b.cu:2: ')
    await save('b.cu', rungText('b', '// 2'))
    expect(asked.at(-1)).toEqual(['a', 'b'])
  })

  it('after a failed run, and runs the pending rungs', async () => {
    const { asked, state, save } = await watched()
    state.fail = new Error('no GPU')
    const after = await save('b.cu', rungText('b', '// 2'))
    expect(after).toMatchObject({ phase: 'failed', error: toErrorShape(new Error('no GPU')) })
    expect((await save('c.cu', rungText('c', '// 2'))).phase).toBe('waiting')
    expect(asked.at(-1)).toEqual(['a', 'b', 'c'])
  })

  it('after a canceled run, and runs the rungs that the canceled run did not reach', async () => {
    const { asked, state, save, verdicts } = await watched()
    state.reached = ['a']
    expect(verdicts(await save('b.cu', rungText('b', '// 2')))[1]).toBe('b unresolved')
    state.reached = []
    await save('c.cu', rungText('c', '// 2'))
    expect(asked.at(-1)).toEqual(['a', 'b', 'c'])
    const after = await save('c.cu', rungText('c', '// 3'))
    expect(asked.at(-1)).toEqual(['a', 'b', 'c'])
    expect(verdicts(after)).toEqual(['a same', 'b same', 'c same'])
  })

  it('while the folder is missing, and after the folder is restored', async () => {
    const { folder, asked, until, save } = await watched()
    await rename(folder, `${folder}-away`)
    try {
      await until(({ phase }) => phase === 'gone')
    } finally {
      await rename(`${folder}-away`, folder)
    }
    await until(({ phase }) => phase === 'waiting')
    expect(asked).toHaveLength(1)
    await save('c.cu', rungText('c', '// 2'))
    expect(asked.at(-1)).toEqual(['a', 'c'])
    await rm(folder, { recursive: true })
    await until(({ phase }) => phase === 'gone')
  })
})
