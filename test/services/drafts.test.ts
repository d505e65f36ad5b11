/** Edited copies of rungs: kept over a restart, private, built, and run after the rung they came from. */
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setUp as hostSetUp } from '../../src-main/adapters/machine/machine'
import { copiedSource, draftRung } from '../../src-main/adapters/kernels/kernel-library'
import { dispatch, type Core, type RunMessage } from '../../src-main/contract'
import type { Draft } from '../../src-main/domain/ladder/rung'
import { createCore } from '../../src-main/services/core'
import { fakeMachine, setEnv, type Machine } from './support'
import { gemm } from '../support'

const session = 'recorded:gemm-fp32-h200-1024'
const rung = '05_thread_tile_2d'

async function setUp(without: string[] = []): Promise<{ machine: Machine; core: Core }> {
  const machine = await fakeMachine(without)
  return { machine, core: createCore(await hostSetUp(), { host: 'web' }) }
}
const open = (core: Core, from = rung): Promise<Draft> =>
  core.call('drafts.open', { session, rung: from })
const body = ({ schema: _schema, savedAt: _savedAt, ...draft }: Draft) => draft

/** With the word that lets the fake tools answer as they did for the rung it was copied from. */
const known = (draft: Draft) => ({ ...body(draft), source: `${draft.source}\n// like: ${rung}\n` })

async function runToItsEnd(core: Core, draft: string, rungs: string[]): Promise<RunMessage[]> {
  const finished = new Promise<void>((done) => {
    core.subscribe(({ event }) => {
      if (event.type === 'finished') done()
    })
  })
  await core.call('run.start', {
    ladder: 'gemm-fp32',
    rungs,
    size: 1024,
    params: {},
    target: 'local',
    profile: 'none',
    draft,
  })
  await finished
  return (await core.call('run.current', {})).messages
}

describe('a copy of a rung', () => {
  it('is the source as it was compiled, under an id and title of its own, after its rung', async () => {
    const { core } = await setUp()
    const draft = await open(core)
    expect(draft).toMatchObject({
      ladder: 'gemm-fp32',
      parent: rung,
      base: rung,
      rung: '05_thread_tile_2d-edit1',
      params: { BM: 128, TM: 8 },
      savedAt: null,
    })
    const { header } = draftRung(draft, gemm)
    expect(header).toMatchObject({ title: '2D thread tile (edit1)', after: rung, expect: [] })
    const { [rung]: source } = await core.call('sessions.sources', { ref: session })
    const code = (text: string) => text.slice(text.indexOf('#include'))
    expect(code(draft.source)).toBe(code(source!))
    expect(header.params.map(({ name }) => name)).toEqual(['BM', 'BN', 'BK', 'TM', 'TN'])
  })

  it('survives a restart, is private to its owner, and can be reopened', async () => {
    const { machine, core } = await setUp()
    const draft = await open(core)
    const source = `${draft.source}\n// mine\n`
    const { savedAt } = await core.call('drafts.save', { ...body(draft), source })
    await core.close()

    const folder = join(machine.dir, 'drafts')
    expect(await readdir(folder)).toEqual([`${draft.id}.json`])
    expect((await stat(join(folder, `${draft.id}.json`))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o077).toBe(0)

    const again = createCore(await hostSetUp(), { host: 'web' })
    expect(await open(again)).toEqual({ ...draft, source, savedAt })
    expect(await again.call('drafts.list', {})).toMatchObject([{ id: draft.id, savedAt }])
    await again.call('drafts.delete', { id: draft.id })
    expect((await open(again)).savedAt).toBeNull()
  })

  it('whose file is damaged is as one that is not there', async () => {
    const { machine, core } = await setUp()
    const draft = await open(core)
    await mkdir(join(machine.dir, 'drafts'))
    await writeFile(join(machine.dir, 'drafts', `${draft.id}.json`), '{"schema":1,"id":"dra')
    expect(await core.call('drafts.list', {})).toEqual([])
    expect((await open(core)).savedAt).toBeNull()
  })

  it('of a rung that no ladder of the program has is refused', async () => {
    const { core } = await setUp()
    await expect(open(core, 'nope')).rejects.toThrow(/no source of a rung named "nope"/)
  })

  it.each([
    ['../../etc/passwd', 'drafts.delete'],
    ['draft-0123456789abcdef/../x', 'drafts.delete'],
    ['', 'drafts.delete'],
  ])('cannot be named %j', async (id, call) => {
    const { core } = await setUp()
    expect(await dispatch(core, call, { id })).toMatchObject({
      ok: false,
      error: { kind: 'input' },
    })
  })

  it('of a hostile rung id, or larger than a source is, is not kept', async () => {
    const { machine, core } = await setUp()
    const draft = body(await open(core))
    for (const bad of [{ rung: '../../x' }, { ladder: 'a/b' }, { source: 'x'.repeat(300_001) }])
      expect(await dispatch(core, 'drafts.save', { ...draft, ...bad })).toMatchObject({ ok: false })
    expect(await readdir(join(machine.dir, 'drafts')).catch(() => [])).toEqual([])
  })
})

describe('a copy that was kept', () => {
  it('is run by the id of its rung, as a command line names it', async () => {
    const { machine, core } = await setUp()
    const draft = known(await open(core))
    await core.call('drafts.save', draft)
    const { session: made } = await machine.run({ rungs: [rung, draft.rung], profile: 'none' })
    expect(made.rungs.map(({ id, status }) => [id, status])).toEqual([
      [rung, 'ok'],
      [draft.rung, 'ok'],
    ])
  })
})

describe('building a copy', () => {
  it('needs nvcc and no GPU, and says what it is built for', async () => {
    const { core } = await setUp(['nvidia-smi'])
    const draft = known(await open(core))
    const answer = await core.call('drafts.build', { session, draft })
    expect(answer).toMatchObject({ built: true, reason: null, architecture: 'sm_90' })
    expect(answer.build?.registersPerThread).toBeGreaterThan(0)
  })

  it('that does not compile gives the compiler’s words at their lines', async () => {
    const { core } = await setUp()
    const draft = await open(core)
    const source = `${draft.source}\n// fault: compile-error\n`
    const answer = await core.call('drafts.build', { session, draft: { ...body(draft), source } })
    expect(answer.built).toBe(false)
    expect(answer.diagnostics[0]).toMatchObject({ severity: 'error', line: expect.any(Number) })
  })

  it.each([
    ['// @rung    05_thread_tile_2d-edit1', '// @rung    other', 1, /this copy is/],
    ['// @dtype   f32', '// @dtype   f99', 10, /@dtype has "f99"/],
    ['// @param   BK 8 {8,16}', '// @param   BK 8 {16}', 7, /not among its allowed values/],
  ])('whose header has %j changed to %j says so at line %i', async (from, to, line, message) => {
    const { core } = await setUp()
    const draft = await open(core)
    expect(draft.source).toContain(from)
    const answer = await core.call('drafts.build', {
      session,
      draft: { ...body(draft), source: draft.source.replace(from, to) },
    })
    expect(answer).toMatchObject({ built: false, diagnostics: [{ line }] })
    expect(answer.diagnostics[0]!.message).toMatch(message)
  })

  it('without nvcc says what is missing', async () => {
    const { core } = await setUp(['nvcc'])
    await expect(
      core.call('drafts.build', { session, draft: body(await open(core)) }),
    ).rejects.toMatchObject({ kind: 'missing' })
  })
})

describe('running a copy', () => {
  it('produces a session in which it follows the rung it came from', async () => {
    const { core } = await setUp()
    const draft = await open(core)
    const mine = known(draft)
    await core.call('drafts.save', mine)
    const messages = await runToItsEnd(core, draft.id, [rung, draft.rung])
    const finished = messages.at(-1)!.event
    expect(finished).toMatchObject({ type: 'finished', status: 'complete' })
    if (finished.type !== 'finished' || finished.session === null) throw new Error('not saved')
    const saved = await core.call('sessions.get', { ref: finished.session })
    expect(saved.rungs.map(({ id, status }) => [id, status])).toEqual([
      [rung, 'ok'],
      [draft.rung, 'ok'],
    ])
    expect(saved.rungs[1]).toMatchObject({ after: rung, title: '2D thread tile (edit1)' })
    const sources = await core.call('sessions.sources', { ref: finished.session })
    expect(sources[draft.rung]).toBe(mine.source)

    // A copy of the copy counts on, and runs after the same rung of the ladder.
    const second = await core.call('drafts.open', { session: finished.session, rung: draft.rung })
    expect(second).toMatchObject({ base: rung, rung: '05_thread_tile_2d-edit2' })
  })

  it('that was discarded meanwhile is refused', async () => {
    const { core } = await setUp()
    setEnv({ FAKE_FAULTS: '' })
    const messages = await runToItsEnd(core, 'draft-0000000000000000', [rung])
    expect(messages.at(-1)!.event).toMatchObject({
      type: 'finished',
      error: { message: { key: 'drafts.gone' } },
    })
  })
})

it('the header of a copy drops statements about another step, and the code stays intact', () => {
  const source = [
    '// @rung    a',
    '// @title   A',
    '// @idea    first',
    '//          and second',
    '// @expect  sharedLoads down',
    '// @dtype   f32',
    '// plain words',
    '',
    '// @rung in the code',
    'int main;',
  ].join('\r\n')
  expect(copiedSource(source, { rung: 'a-edit1', base: 'a', title: 'A' }).split('\n')).toEqual([
    '// @rung    a-edit1',
    '// @title   A (edit1)',
    '// @after   a',
    '// @idea    a copy of a; describe here what changes and why it should pay off',
    '// @dtype   f32',
    '// plain words',
    '',
    '// @rung in the code',
    'int main;',
  ])
})
