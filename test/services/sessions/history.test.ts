import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { History } from '../../../src-main/domain/history/history'
import type { Session } from '../../../src-main/domain/session/session'
import { findHistory, readHistory } from '../../../src-main/services/sessions/history'
import { isValid } from '../../json-schemas'
import { runIn } from '../../hosts/cli/support'
import { recordingsDir, setEnv, setupIn, tempDir } from '../support'

const recorded = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
const usual = ['00_cublas', '01_naive', '02_coalesced']

interface Sketch {
  /** Factors on the recorded times, by rung. */
  times?: Record<string, number>
  all?: number
  source?: string
  change?: (session: Session) => void
}

/** A store with a session a day. */
async function store(...sketches: Sketch[]) {
  const dir = await tempDir()
  const setup = setupIn(dir, { kernelsDir: 'cuda-kernels' })
  for (const [day, { times = {}, all = 1, source, change }] of sketches.entries()) {
    const session = structuredClone(recorded)
    session.target = { kind: 'live', name: 'local' }
    session.createdAt = new Date(Date.UTC(2026, 0, 1 + day)).toISOString()
    session.rungs = session.rungs.filter(({ id }) => usual.includes(id))
    // Never quite the same time twice, as on a GPU.
    const jitter = 1 + 0.002 * Math.sin(day * 12.9898)
    for (const rung of session.rungs) {
      const factor = (times[rung.id] ?? 1) * all * jitter
      rung.timing!.medianMs *= factor
      rung.timing!.referenceMedianMs! *= all * jitter
      if (source !== undefined) rung.sourceHash = source
    }
    change?.(session)
    const folder = join(setup.machine.folders.sessions, `day-${String(day).padStart(2, '0')}`)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'session.json'), JSON.stringify(session))
  }
  const read = (more = {}): Promise<History> =>
    readHistory(setup, { ladder: 'gemm-fp32', leastPercent: 1, ...more })
  return { dir, setup, read }
}

const days = (count: number, sketch: Sketch): Sketch[] =>
  Array.from({ length: count }, () => sketch)

const of = ({ series }: History, rung: string) => series.filter((one) => one.rung === rung)

describe('a history', () => {
  it('finds the session from which on a rung is slower, and whether its source changed', async () => {
    const { read } = await store(
      ...days(9, {}),
      ...days(8, { times: { '01_naive': 1.02 }, source: 'f'.repeat(64) }),
      ...days(8, { times: { '01_naive': 1.05 }, source: 'f'.repeat(64) }),
    )
    const history = await read()
    const [series] = of(history, '01_naive')
    expect(series!.points).toHaveLength(25)
    expect(series!.changes.map(({ session, sourceChanged }) => [session, sourceChanged])).toEqual([
      ['day-09', true],
      ['day-17', false],
    ])
    const [first] = series!.changes
    expect(first!.ratio).toBeCloseTo(1.02, 2)
    expect(first!.relative).toBeCloseTo(1.02, 2)
    expect(of(history, '02_coalesced')[0]!.changes).toEqual([])
    expect((await read({ leastPercent: 10 })).series.flatMap(({ changes }) => changes)).toEqual([])
  })

  it('distinguishes a change of the whole GPU from one of the rung', async () => {
    const { read } = await store(...days(9, {}), ...days(9, { all: 1.1 }))
    const [series] = of(await read({ rungs: ['02_coalesced'] }), '02_coalesced')
    expect(series!.changes).toHaveLength(1)
    expect(series!.changes[0]!.ratio).toBeCloseTo(1.1, 1)
    expect(series!.changes[0]!.relative).toBeCloseTo(1, 2)
  })

  it('keeps environments, sizes and parameters apart, and compares nothing across them', async () => {
    const { read } = await store(
      ...days(9, {}),
      ...days(9, {
        all: 2,
        change: (session) => {
          session.device!.driver = '999'
        },
      }),
      {
        change: (session) => {
          session.problem!.sizes.m = 512
        },
      },
    )
    const history = await read()
    expect(of(history, '01_naive').map(({ points }) => points.length)).toEqual([9, 9, 1])
    expect(history.series.flatMap(({ changes }) => changes)).toEqual([])
    const { m, ...rest } = recorded.problem!.sizes
    expect(of(await read({ sizes: { m: 512, ...rest } }), '01_naive')).toHaveLength(1)
    expect(m).not.toBe(512)
  })

  it('takes only what was timed live, and names what it could not read', async () => {
    const { setup, read } = await store(
      {},
      {
        change: (session) => {
          session.rungs[1]!.status = 'wrong'
          session.rungs[2]!.timing = null
        },
      },
      {
        change: (session) => {
          session.target = { kind: 'imported', name: 'x' } as Session['target']
        },
      },
    )
    const { sessions } = setup.machine.folders
    await mkdir(join(sessions, 'broken'))
    await cp(join(sessions, 'day-00'), join(sessions, 'copied'), { recursive: true })
    await writeFile(join(sessions, 'copied', 'imported.json'), '{}')
    const history = await read()
    expect(history.unreadable).toEqual(['broken'])
    expect(of(history, '00_cublas')[0]!.points).toHaveLength(2)
    expect(of(history, '01_naive')[0]!.points).toHaveLength(1)
    expect(of(history, '01_naive')[0]!.changes).toEqual([])
  })

  it('refuses a ladder without sessions, and a rung that none has', async () => {
    const { read } = await store({})
    await expect(read({ ladder: 'scan' })).rejects.toMatchObject({ kind: 'input' })
    await expect(read({ rungs: ['nope'] })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('"nope"') as string,
    })
  })

  it('is printed, one series after another, and as one document', async () => {
    const { dir } = await store(...days(9, {}), ...days(8, { times: { '01_naive': 1.04 } }))
    setEnv({ KERNEL_LADDER_DATA: dir, KERNEL_LADDER_CACHE: join(dir, 'cache') })
    const words = ['history', '--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced']
    const text = await runIn({}, ...words)
    expect(text.code, text.stderr).toBe(0)
    expect(text.stdout).toMatch(/01_naive at 1024³ f32 on NVIDIA H200, driver \S+, nvcc \S+\n/)
    expect(text.stdout).toMatch(/▁.*▇|▁.*█/)
    expect(text.stdout).toMatch(/2026-01-10 \+[34]\.\d\d %: .* from day-09 on; the same source\n/)
    expect(text.stdout).toContain('no change found')
    const json = await runIn({}, ...words, '--json')
    expect(isValid('history', JSON.parse(json.stdout))).toBe(true)
    const none = await runIn({}, ...words, '--size', '2048', '--json')
    expect(none.code).toBe(2)
    expect((await runIn({}, ...words, '--threshold', '0')).code).toBe(2)
  })
})

it('is empty, and no fault, for a screen that shows a ladder without a timed session', async () => {
  const { setup } = await store(...days(2, {}))
  const none = await findHistory(setup, 'reduction')
  expect(none).toMatchObject({ ladders: ['gemm-fp32'], history: { series: [], unreadable: [] } })
  const { history } = await findHistory(setup, null)
  expect(history).toMatchObject({ ladder: 'gemm-fp32' })
  expect(history!.series).toHaveLength(3)
  const { setup: empty } = await store()
  expect(await findHistory(empty, null)).toEqual({ ladders: [], history: null })
})
