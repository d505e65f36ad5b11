import { cp, mkdir, writeFile, readFile, readdir, rename } from 'node:fs/promises'
import { join, basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { History } from '../../../src-main/domain/history/history'
import type { Session } from '../../../src-main/domain/session/session'
import { findHistory, readHistory } from '../../../src-main/services/sessions/history'
import { isValid } from '../../json-schemas'
import { runIn } from '../../hosts/cli/support'
import { recordingsDir, setEnv, setupIn, tempDir } from '../support'
import { listDeleted, sweepTrash } from '../../../src-main/adapters/sessions/labels-and-trash'
import { createCore } from '../../../src-main/services/app/core'
import { reportHtml } from '../../../src-main/services/report/index'
import { noPrivates, recording, template } from '../report/samples'
import { setUp as hostSetUp } from '../../../src-main/adapters/machine/local-machine'

const recorded = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
const usual = ['00_cublas', '01_naive', '02_coalesced']

interface Sketch {
  /** Factors by which the recorded times are multiplied, by rung. */
  times?: Record<string, number>
  all?: number
  source?: string
  change?: (session: Session) => void
}

/** Creates a store with one session per day. */
async function store(...sketches: Sketch[]) {
  const dir = await tempDir()
  const setup = setupIn(dir, { kernelsDir: 'cuda-kernels' })
  for (const [day, { times = {}, all = 1, source, change }] of sketches.entries()) {
    const session = structuredClone(recorded)
    session.target = { kind: 'live', name: 'local' }
    session.createdAt = new Date(Date.UTC(2026, 0, 1 + day)).toISOString()
    session.rungs = session.rungs.filter(({ id }) => usual.includes(id))
    // Vary the time a little, because two measurements never give exactly the same time.
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
  it('shows when a rung became slower, and whether its source changed', async () => {
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

  it('distinguishes a change in the whole GPU from a change in one rung', async () => {
    const { read } = await store(...days(9, {}), ...days(9, { all: 1.1 }))
    const [series] = of(await read({ rungs: ['02_coalesced'] }), '02_coalesced')
    expect(series!.changes).toHaveLength(1)
    expect(series!.changes[0]!.ratio).toBeCloseTo(1.1, 1)
    expect(series!.changes[0]!.relative).toBeCloseTo(1, 2)
  })

  it('never compares sessions with different environments, sizes, or parameters', async () => {
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

  it('uses only live times, and reports sessions that could not be read', async () => {
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

  it('rejects a ladder or rung that has no sessions', async () => {
    const { read } = await store({})
    await expect(read({ ladder: 'scan' })).rejects.toMatchObject({ kind: 'input' })
    await expect(read({ rungs: ['nope'] })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('"nope"') as string,
    })
  })

  it('is printed as consecutive series, or as one JSON document', async () => {
    const { dir } = await store(...days(9, {}), ...days(8, { times: { '01_naive': 1.04 } }))
    setEnv({ KERNEL_LADDER_DATA: dir, KERNEL_LADDER_CACHE: join(dir, 'cache') })
    const words = ['history', '--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced']
    const text = await runIn({}, ...words)
    expect(text.code, text.stderr).toBe(0)
    expect(text.stdout).toMatch(
      /01_naive at 1024³ f32 on NVIDIA H200, L2 cold, driver \S+, nvcc \S+\n/,
    )
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

it('a ladder without a timed session has an empty history, not an error', async () => {
  const { setup } = await store(...days(2, {}))
  const none = await findHistory(setup, 'reduction')
  expect(none).toMatchObject({ ladders: ['gemm-fp32'], history: { series: [], unreadable: [] } })
  const { history } = await findHistory(setup, null)
  expect(history).toMatchObject({ ladder: 'gemm-fp32' })
  expect(history!.series).toHaveLength(3)
  const { setup: empty } = await store()
  expect(await findHistory(empty, null)).toEqual({ ladders: [], history: null })
})

// Tests that a saved session can be renamed, deleted, and restored without changing its contents.
// These operations must not change recordings.

const report = join(
  import.meta.dirname,
  '../../captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep',
)

/** Creates a core with its own store, which contains one imported session. */
async function setUp(options: { mounted?: boolean } = {}) {
  const data = await tempDir()
  const store = join(data, 'sessions')
  setEnv({ KERNEL_LADDER_DATA: data })
  const first = createCore(await hostSetUp(), { host: 'web' })
  const { ref } = await first.importFile(report)
  const folder = join(store, ref)
  const core = options.mounted
    ? createCore(await hostSetUp(), { host: 'web', session: folder })
    : first
  const summary = async () =>
    (await core.call('sessions.list', {})).find((session) => session.ref === ref)
  return { core, ref, store, folder, summary }
}

describe('a name', () => {
  it('is stored next to the unchanged session, and can be removed', async () => {
    const { core, ref, folder, summary } = await setUp()
    const before = await readFile(join(folder, 'session.json'), 'utf8')
    expect((await summary())!.title).toBeNull()
    await core.call('sessions.rename', { ref, title: '바꾼 이름 <b>' })
    expect((await summary())!.title).toBe('바꾼 이름 <b>')
    expect(await readFile(join(folder, 'session.json'), 'utf8')).toBe(before)
    await core.call('sessions.rename', { ref, title: null })
    expect((await summary())!.title).toBeNull()
    expect(await readdir(folder)).not.toContain('label.json')
  })

  it('that cannot be read is ignored when the session opens', async () => {
    const { core, ref, folder, summary } = await setUp()
    await writeFile(join(folder, 'label.json'), '{"schema":1,"title":')
    expect((await summary())!.title).toBeNull()
    expect((await core.call('sessions.get', { ref })).rungs).toHaveLength(3)
  })
})

describe('a deleted session', () => {
  it('moves to the trash, from which it can be restored completely with its name', async () => {
    const { core, ref, folder, summary } = await setUp()
    await core.call('sessions.rename', { ref, title: 'mine' })
    const session = await core.call('sessions.get', { ref })
    const files = await readdir(folder)
    await core.call('sessions.delete', { ref })
    expect(await summary()).toBeUndefined()
    await expect(core.call('sessions.get', { ref })).rejects.toThrow(`no session named ${ref}`)
    expect(await core.call('sessions.deleted', {})).toEqual([
      { ref, title: 'mine', deletedAt: expect.stringMatching(/^\d{4}-/) },
    ])
    await core.call('sessions.restore', { ref })
    expect((await summary())!.title).toBe('mine')
    expect(await core.call('sessions.get', { ref })).toEqual(session)
    expect(await readdir(folder)).toEqual(files)
    expect(await core.call('sessions.deleted', {})).toEqual([])
  })

  it('cannot be restored over a session that now has its name', async () => {
    const { core, ref, folder, store } = await setUp()
    await core.call('sessions.delete', { ref })
    const [entry] = await readdir(join(store, '.trash'))
    await cp(join(store, '.trash', entry!), folder, { recursive: true })
    await expect(core.call('sessions.restore', { ref })).rejects.toThrow(
      'another session has that name',
    )
    // Delete the second session too. If two deleted sessions have the same name, the session that
    // was deleted last is restored.
    await core.call('sessions.delete', { ref })
    expect(await core.call('sessions.deleted', {})).toHaveLength(1)
    await core.call('sessions.restore', { ref })
    expect(await readdir(join(store, '.trash'))).toEqual([entry])
  })

  it('is removed permanently after thirty days, but not earlier', async () => {
    const { core, ref, store } = await setUp()
    await core.call('sessions.delete', { ref })
    const day = 24 * 3600 * 1000
    await sweepTrash(store, Date.now() + 29 * day)
    expect(await listDeleted(store)).toHaveLength(1)
    await writeFile(join(store, '.trash', 'a file of yours'), '')
    await sweepTrash(store, Date.now() + 31 * day)
    expect(await readdir(join(store, '.trash'))).toEqual(['a file of yours'])
  })

  it('can be restored even if it was damaged before its deletion', async () => {
    const { core, ref, folder, summary } = await setUp()
    await writeFile(join(folder, 'session.json'), '{')
    expect((await summary())!.damaged).toMatchObject({ key: 'sessions.unreadable' })
    await core.call('sessions.delete', { ref })
    expect(await core.call('sessions.deleted', {})).toMatchObject([{ ref, title: null }])
    await core.call('sessions.restore', { ref })
    expect(await readFile(join(folder, 'session.json'), 'utf8')).toBe('{')
  })
})

describe('sessions outside the store', () => {
  it.each(['delete', 'restore'] as const)(
    'include recordings, for which %s is rejected',
    async (what) => {
      const { core } = await setUp()
      const ref = 'recorded:gemm-fp32-h200-4096'
      await expect(core.call(`sessions.${what}`, { ref })).rejects.toThrow(
        'ships with the program and cannot be',
      )
      await expect(core.call('sessions.rename', { ref, title: 'x' })).rejects.toThrow(
        'ships with the program',
      )
    },
  )

  it('include a folder given on the command line, which only the user may delete', async () => {
    const { core, ref } = await setUp({ mounted: true })
    await expect(core.call('sessions.delete', { ref })).rejects.toThrow('your own folder')
  })

  it('are distinguished from a session that does not exist', async () => {
    const { core } = await setUp()
    const ref = 'nobody'
    const missing = 'There is no session named nobody.'
    await expect(core.call('sessions.delete', { ref })).rejects.toThrow(missing)
    await expect(core.call('sessions.rename', { ref, title: 'x' })).rejects.toThrow(missing)
    await expect(core.call('sessions.restore', { ref })).rejects.toThrow(
      'nobody is not among the deleted sessions',
    )
  })
})

describe('an uploaded file', () => {
  it('becomes a session in the store', async () => {
    const { ref, summary } = await setUp()
    expect(await summary()).toMatchObject({ ref, kind: 'imported', rungCount: 3 })
  })

  it("that is another machine's HTML report of a live run is listed as imported, with its problem", async () => {
    const { core } = await setUp()
    const sample = recording()
    sample.session.target = { kind: 'live', name: 'local' }
    const path = join(await tempDir(), 'report.html')
    await writeFile(path, reportHtml([sample], {}, template, noPrivates))
    const { ref } = await core.importFile(path)
    const item = (await core.call('sessions.list', {})).find((one) => one.ref === ref)!
    expect(item).toMatchObject({ kind: 'imported', problem: { sizes: { m: 4096 } } })
    expect(await core.call('sessions.get', { ref })).toEqual(sample.session)
  })

  it('that is not a report leaves no files, and the error shows only its name', async () => {
    const { core, store, folder } = await setUp()
    const dir = await tempDir()
    const path = join(dir, 'holiday.jpg')
    await writeFile(path, Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a]))
    const error = await core.importFile(path).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      kind: 'input',
      message: 'holiday.jpg is neither an ncu report nor a text file.',
    })
    expect(await readdir(store)).toEqual([basename(folder)])
  })
})

it('a store that is not writable is reported', async () => {
  const { core, ref, store } = await setUp()
  // Permissions do not stop root, but a file in place of the trash folder causes the same error.
  await writeFile(join(store, '.trash'), '')
  await expect(core.call('sessions.delete', { ref })).rejects.toThrow(`Could not delete`)
  await rename(join(store, '.trash'), join(store, '.moved'))
  await core.call('sessions.delete', { ref })
})
