/** Tests sweeps on a machine with fake tools. A point's time depends on its values. */
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type TuneRow } from '../../../src-main/domain/tune/report'
import type { TuneRequest } from '../../../src-main/services/tune/request'
import { createCore } from '../../../src-main/services/app/core'
import { tune, type Tuned, type TuneOptions } from '../../../src-main/services/tune/tune'
import { said } from '../../support'
import { faultsOf } from '../../json-schemas'
import { runHere } from '../../hosts/cli/support'
import { rungText, sumsFolder, sumsYaml, fakeMachine, setEnv, type Machine } from '../support'
import { pointsOfT4, T4Results, toT4 } from '../../../src-main/domain/tune/t4'

const rung = '04_thread_tile_1d'
const axes = [
  { name: 'BM', values: [32, 64, 128] },
  { name: 'TM', values: [4, 8, 16] },
]

function start(
  { setup }: Machine,
  request: Partial<TuneRequest> = {},
  options: Partial<TuneOptions> = {},
): Promise<Tuned> {
  return tune(
    setup,
    {
      ...{ ladder: 'gemm-fp32', rung, size: 1024, axes, rules: [], seed: 1 },
      budget: { points: null, seconds: null },
      ...{ secondsAPoint: 0.1, cacheState: 'cold', fresh: false, first: () => [] },
      ...request,
    },
    {
      signal: new AbortController().signal,
      ...{ onNote: () => undefined, onPoint: () => undefined, idleSeconds: 2, waitForGpu: true },
      ...options,
    },
  )
}

/** Creates a machine on which BM=128 with TM=16 is the fastest point. */
async function machineWith(...lines: string[]): Promise<Machine> {
  const machine = await fakeMachine()
  const text = ['// fastest: BM=128 TM=16', ...lines].map((line) => `${line}\n`).join('')
  await machine.editRung(rung, (source) => `${source}\n${text}`)
  return machine
}

const statusAt = (rows: readonly TuneRow[], BM: number, TM: number): TuneRow =>
  rows.find(({ params }) => params.BM === BM && params.TM === TM)!

const built = (machine: Machine): number =>
  machine.calls('nvcc').filter((words) => words.some((word) => /-DBM=/.test(word))).length

describe('a sweep', () => {
  it('ranks every possible point, times the best points again, and shows the effect of each value', async () => {
    const machine = await machineWith()
    const { report } = await start(machine)
    expect(report).toMatchObject({
      strategy: 'exhaustive',
      completion: 'complete',
      space: { combinations: 9, allowed: report.rows.length },
      winner: { BM: 128, TM: 16, BN: 64, BK: 8 },
    })
    // Points excluded by static_asserts are not compiled.
    expect(report.rows.length).toBeLessThan(9)
    expect(report.space.rules).toContain('BM % TM == 0')
    expect(report.rows.every(({ status }) => status === 'ok')).toBe(true)
    const times = report.rows.map(({ medianMs }) => medianMs!)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(report.finalists).toHaveLength(5)
    const [best] = report.finalists
    // The rung's default parameters include neither fast value, so the baseline takes 1.2 times as
    // long.
    expect(best!.ratio!.ratio).toBeCloseTo(1 / 1.2, 2)
    expect(best!.rounds).toBe(8)
    expect(report.baseline!.params).toEqual({ BM: 64, BN: 64, BK: 8, TM: 8 })
    expect(report.byParameter.BM!.map(({ value }) => value)).toEqual([32, 64, 128])
    const [small, , large] = report.byParameter.BM!
    expect(large!.bestMs! / small!.bestMs!).toBeCloseTo(1 / 1.1, 6)
  })

  it('lists points that are wrong, crash, hang, or do not compile, and continues', async () => {
    const machine = await machineWith(
      '// fault-at: BM=32 wrong',
      '// fault-at: TM=8 compile-error',
      '// fault-at: BM=64 crash',
    )
    const { report } = await start(machine)
    expect(statusAt(report.rows, 32, 16)).toMatchObject({ status: 'wrong', medianMs: null })
    expect(statusAt(report.rows, 64, 8).status).toBe('not-built')
    expect(said(statusAt(report.rows, 64, 8).reason!)).toMatch(/identifier .* is undefined/)
    expect(statusAt(report.rows, 64, 16)).toMatchObject({ status: 'failed', gpu: 0 })
    expect(said(statusAt(report.rows, 64, 16).reason!)).toMatch(/SIGSEGV/)
    expect(statusAt(report.rows, 128, 16).status).toBe('ok')
    expect(report.winner).toMatchObject({ BM: 128, TM: 16 })
    expect(report.rows.at(-1)!.medianMs).toBeNull()
  })

  it('has no winner if no point runs', async () => {
    const machine = await machineWith('// fault: wrong')
    const { report } = await start(machine)
    expect(report).toMatchObject({ winner: null, finalists: [], baseline: null })
  })

  it('drops a finalist that is wrong at one of the test sizes of its ladder', async () => {
    const machine = await fakeMachine()
    const folder = join(machine.kernelsDir, 'gemm', 'ladders', 'gemm-fp32.json')
    const ladder = JSON.parse(await readFile(folder, 'utf8')) as Record<string, unknown>
    await writeFile(folder, JSON.stringify({ ...ladder, testAt: [{ m: 129, n: 65, k: 33 }] }))
    await machine.editRung(
      rung,
      (text) => `${text}\n// fastest: BM=128 TM=16\n// fault-at: BM=128 wrong-at:0:i64:129\n`,
    )
    const { report } = await start(machine)
    const atWinner = report.finalists.filter(({ params }) => params.BM === 128)
    expect(atWinner.length).toBeGreaterThan(0)
    for (const { medianMs, reason } of atWinner) {
      expect(medianMs).toBeNull()
      expect(said(reason!)).toMatch(/^At m 129, n 65/)
    }
    expect(report.winner!.BM).not.toBe(128)
  })

  it('continues after it was stopped, and starts over on request', async () => {
    const machine = await machineWith()
    const abort = new AbortController()
    const stopped = await start(
      machine,
      {},
      { signal: abort.signal, onPoint: (_row, { done }) => done === 3 && abort.abort() },
    )
    expect(stopped.report).toMatchObject({ completion: 'cancelled', winner: null })
    const done = stopped.report.rows.length
    const whole = await start(machine)
    expect(whole.report.resumed).toBe(done)
    expect(whole.report.winner).toMatchObject({ BM: 128, TM: 16 })
    expect(whole.report.gpus[0]!.measured).toBe(whole.report.rows.length - done)
    expect((await start(machine, { fresh: true })).report.resumed).toBe(0)
  })

  it('resumes from a truncated journal, and ignores journals for other sources', async () => {
    const machine = await machineWith()
    const first = await start(machine)
    const folder = machine.setup.machine.folders.tunes
    const [file] = await readdir(folder)
    const text = await readFile(join(folder, file!), 'utf8')
    await writeFile(join(folder, file!), text.slice(0, -20))
    const again = await start(machine)
    expect(again.report.resumed).toBe(first.report.rows.length - 1)
    expect((await readFile(join(folder, file!), 'utf8')).trimEnd().split('\n')).toHaveLength(
      first.report.rows.length + 1,
    )
    await machine.editRung(rung, (source) => `${source}\n// another\n`)
    expect((await start(machine)).report.resumed).toBe(0)
  })

  it('measures only as many points as its budget allows', async () => {
    const machine = await machineWith()
    const { report } = await start(machine, {
      budget: { points: 4, seconds: null },
      strategy: 'random',
    })
    expect(report.rows).toHaveLength(4)
    expect(
      (await start(machine, { budget: { points: null, seconds: 0 } })).report.rows,
    ).toHaveLength(0)
  })

  it('has one worker per GPU, and measures each point on one GPU', async () => {
    const machine = await machineWith()
    setEnv({ FAKE_GPUS: '2' })
    const { report } = await start(machine, { gpus: 'all' })
    expect(report.gpus.map(({ number }) => number)).toEqual([0, 1])
    expect(report.gpus.every(({ measured }) => measured > 0)).toBe(true)
    expect(report.gpus[0]!.measured + report.gpus[1]!.measured).toBe(report.rows.length)
    expect(new Set(machine.calls('gpu').map(([, visible]) => visible))).toEqual(new Set(['0', '1']))
    await expect(start(machine, { gpus: [0, 2] })).rejects.toThrow('There is no GPU 2')
    await expect(start(machine, { gpus: [1, 1] })).rejects.toThrow('GPU 1 is named twice')
  })
})

describe('invalid sweep requests', () => {
  it.each([
    ['an unknown macro', { axes: [{ name: 'NOPE', values: [1] }] }, /mentions no macro/],
    ['an empty space', { rules: ['BM > 500'] }, /none meets BM > 500/],
    ['a rule over something else', { rules: ['BM > x'] }, /not an integer expression over BM, TM/],
    [
      'too much to try each',
      {
        axes: ['BM', 'BN', 'BK', 'TM'].map((name) => ({
          name,
          values: Array.from({ length: 100 }, (_, value) => value + 1),
        })),
        strategy: 'exhaustive' as const,
      },
      /100,000,000 combinations, too many to try each/,
    ],
    ['a rung without parameters', { rung: '01_naive', axes: [] }, /declares no parameter/],
  ])('%s is rejected before anything is built', async (_, request, why) => {
    const machine = await fakeMachine()
    await expect(start(machine, request)).rejects.toThrow(why)
    expect(built(machine)).toBe(0)
  })
})

describe('the T4 format of tuning results', () => {
  it('contains every point with its times, and is parsed to the valid points, fastest first', async () => {
    const machine = await machineWith('// fault-at: BM=32 wrong', '// fault-at: BM=64 crash')
    const { rows } = await start(machine)
    const document = T4Results.parse(JSON.parse(JSON.stringify(toT4(rows))))
    expect(document.results).toHaveLength(rows.length)
    const invalidity = new Set(document.results.map((result) => result.invalidity))
    expect(invalidity).toEqual(new Set(['correct', 'correctness', 'runtime']))
    const right = document.results.find((result) => result.invalidity === 'correct')!
    expect(right.times.runtimes!.length).toBeGreaterThan(5)
    expect(right.measurements).toMatchObject([{ name: 'time', unit: 'ms' }])
    expect(pointsOfT4(document, ['BM', 'TM'])[0]).toEqual({ BM: 128, TM: 16 })
    expect(pointsOfT4(document, ['BM', 'OTHER'])).toEqual([])
    // A new sweep can start with the valid points of a T4 document.
    const again = await start(machine, {
      fresh: true,
      budget: { points: 1, seconds: null },
      first: (names) => pointsOfT4(document, names),
    })
    expect(again.report.rows[0]!.params).toMatchObject({ BM: 128, TM: 16 })
  })
})

describe('tune on the command line', () => {
  const yaml = (text: string): string =>
    text.replace('{ id: b }', '{ id: b }  # the second\n  ').replace('rungs: [', 'rungs: [ ')
  const header = '// @param TILE 32 {16,32}\n// fastest: TILE=64\n'

  async function folder(machine: Machine, edit = yaml): Promise<string> {
    const own = await sumsFolder(machine, { yaml: edit(sumsYaml) })
    await writeFile(join(own, 'b.cu'), rungText('b', header))
    return own
  }

  it('prints a document that matches its schema, writes T4, and applies the winner', async () => {
    const machine = await fakeMachine()
    const own = await folder(machine)
    const t4 = join(machine.dir, 't4.json')
    const words = ['tune', '--ladder', own, '--rung', 'b', '--param', 'TILE=16,32,64']
    const { code, stdout, stderr } = await runHere(...words, '--json', '--apply', '--t4', t4)
    expect(code, stderr).toBe(0)
    const document = JSON.parse(stdout) as { winner: object }
    expect(faultsOf('tune', document)).toEqual([])
    expect(document.winner).toEqual({ TILE: 64 })
    expect(T4Results.parse(JSON.parse(await readFile(t4, 'utf8'))).results).toHaveLength(3)
    // The rung did not list 64 before the sweep. ladder.yaml must keep its comments.
    expect(await readFile(join(own, 'b.cu'), 'utf8')).toContain('@param TILE 32 {16,32,64}')
    const edited = await readFile(join(own, 'ladder.yaml'), 'utf8')
    expect(edited).toContain('# the second')
    const ladders = JSON.parse((await runHere('ladders', own, '--json')).stdout) as {
      ladders: { rungs: { id: string; params: object }[] }[]
    }
    expect(ladders.ladders[0]!.rungs.map(({ id }) => id)).toEqual(['a', 'b', 'b-tuned', 'c'])
    // The CLI stores the sweep, so the UI can open and apply it.
    const core = createCore(machine.setup, { host: 'web' })
    const { tunings } = await core.call('tunings.list', {})
    expect(tunings).toMatchObject([{ rung: 'b', points: 3 }])
    const { id } = tunings[0]!
    const kept = await core.call('tunings.get', { id })
    expect(kept).toMatchObject({ folder: own, machine: null, report: { winner: { TILE: 64 } } })
    const added = await core.call('tunings.apply', { id })
    expect(added).toEqual({ variant: 'b-tuned2', folder: own })
    expect(await readFile(join(own, 'ladder.yaml'), 'utf8')).toMatch(/b-tuned2.*times as fast/s)
    await writeFile(join(machine.setup.machine.folders.tunes, `${id}.tuning.json`), '{}')
    expect(await core.call('tunings.list', {})).toEqual({ tunings: [] })
    await expect(core.call('tunings.get', { id })).rejects.toMatchObject({ kind: 'input' })
    await expect(core.call('tunings.get', { id: 'other' })).rejects.toThrow('no sweep other')
    await runHere(...words, '--from', t4)
    const text = await runHere(...words, '--from', t4)
    expect(text.stdout).toMatch(/^Best: --param b\.TILE=64$/m)
    expect(text.stdout).toMatch(/^3 points in .* 3 of them reused/m)
    expect(text.stdout).toMatch(/^ +64 +\d+ µs +1\.\d+×/m)
  })

  it.each([
    [['--param', 'TILE=a'], /--param TILE "a" must be a whole number/],
    [['--param', 'TILE=1,1'], /lists a value twice/],
    [['--param', 'TILE=1', '--param', 'TILE=2'], /--param TILE is given twice/],
    [['--budget', '0'], /neither a number of points nor a time/],
    [['--strategy', 'best'], /is not a strategy/],
    [['--gpu', 'x'], /--gpu "x" must be a whole number/],
    [['--apply'], /gemm-fp32 ships with the program/],
    [['--from', '/dev/null'], /cannot be read/],
    [['--seconds', '0'], /is not a number from 0.01 to 60/],
  ])('rejects %j', async (words, why) => {
    await fakeMachine()
    const { code, stderr } = await runHere(
      'tune',
      '--ladder',
      'gemm-fp32',
      '--rung',
      rung,
      ...words,
    )
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)])
  })
})
