/** A saved session is named, deleted and taken back without being edited; recordings stay as they are. */
import { cp, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setUp as hostSetUp } from '../../../src-main/adapters/machine/machine'
import { listDeleted, sweepTrash } from '../../../src-main/adapters/sessions/labels-and-trash'
import { createCore } from '../../../src-main/services/core'
import { reportHtml } from '../../../src-main/services/report'
import { noPrivates, recording, template } from '../report/samples'
import { setEnv, tempDir } from '../support'

const report = join(
  import.meta.dirname,
  '../../captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep',
)

/** A core over a store of its own that holds one imported session. */
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

  it('that cannot be read is no name, and the session still opens', async () => {
    const { core, ref, folder, summary } = await setUp()
    await writeFile(join(folder, 'label.json'), '{"schema":1,"title":')
    expect((await summary())!.title).toBeNull()
    expect((await core.call('sessions.get', { ref })).rungs).toHaveLength(2)
  })
})

describe('a deleted session', () => {
  it('is gone from the list, kept in the trash, and comes back whole with its name', async () => {
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

  it('does not overwrite one that took its name meanwhile', async () => {
    const { core, ref, folder, store } = await setUp()
    await core.call('sessions.delete', { ref })
    const [entry] = await readdir(join(store, '.trash'))
    await cp(join(store, '.trash', entry!), folder, { recursive: true })
    await expect(core.call('sessions.restore', { ref })).rejects.toThrow(
      'another session has that name',
    )
    // Deleted too: of the two, the last comes back.
    await core.call('sessions.delete', { ref })
    expect(await core.call('sessions.deleted', {})).toHaveLength(1)
    await core.call('sessions.restore', { ref })
    expect(await readdir(join(store, '.trash'))).toEqual([entry])
  })

  it('is removed for good after thirty days, and no day before', async () => {
    const { core, ref, store } = await setUp()
    await core.call('sessions.delete', { ref })
    const day = 24 * 3600 * 1000
    await sweepTrash(store, Date.now() + 29 * day)
    expect(await listDeleted(store)).toHaveLength(1)
    await writeFile(join(store, '.trash', 'a file of yours'), '')
    await sweepTrash(store, Date.now() + 31 * day)
    expect(await readdir(join(store, '.trash'))).toEqual(['a file of yours'])
  })

  it('that is damaged can be deleted and restored too', async () => {
    const { core, ref, folder, summary } = await setUp()
    await writeFile(join(folder, 'session.json'), '{')
    expect((await summary())!.damaged).toMatchObject({ key: 'sessions.unreadable' })
    await core.call('sessions.delete', { ref })
    expect(await core.call('sessions.deleted', {})).toMatchObject([{ ref, title: null }])
    await core.call('sessions.restore', { ref })
    expect(await readFile(join(folder, 'session.json'), 'utf8')).toBe('{')
  })
})

describe('what is not in the store', () => {
  it.each(['delete', 'restore'] as const)('a recording: no %s', async (what) => {
    const { core } = await setUp()
    const ref = 'recorded:gemm-fp32-h200-4096'
    await expect(core.call(`sessions.${what}`, { ref })).rejects.toThrow(
      'ships with the program and cannot be',
    )
    await expect(core.call('sessions.rename', { ref, title: 'x' })).rejects.toThrow(
      'ships with the program',
    )
  })

  it('a folder named on the command line: it is its owner’s', async () => {
    const { core, ref } = await setUp({ mounted: true })
    await expect(core.call('sessions.delete', { ref })).rejects.toThrow('a folder of your own')
  })

  it('a session that is not there', async () => {
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

describe('a file that is handed over', () => {
  it('becomes a session of the store', async () => {
    const { ref, summary } = await setUp()
    expect(await summary()).toMatchObject({ ref, kind: 'imported', rungCount: 2 })
  })

  it('that is a report of a live run elsewhere is listed as imported, with its problem', async () => {
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

  it('that is no report is refused by its name alone, and leaves nothing', async () => {
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

it('a store that cannot be written says so', async () => {
  const { core, ref, store } = await setUp()
  // A file where the trash should be: the same answer for root, who may write anywhere.
  await writeFile(join(store, '.trash'), '')
  await expect(core.call('sessions.delete', { ref })).rejects.toThrow(`Could not delete`)
  await rename(join(store, '.trash'), join(store, '.moved'))
  await core.call('sessions.delete', { ref })
})
