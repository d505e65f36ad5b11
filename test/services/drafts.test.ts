/**
 * Tests edited copies of rungs. The copies survive restarts, are private, can be built, and run
 * after their original rung.
 */
import { mkdir, readdir, stat, writeFile, chmod, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type Setup } from '../../src-main/adapters/machine/machine'
import { dispatch, type Core, type RunMessage } from '../../src-main/contract/index'
import { createCore } from '../../src-main/services/app/core'
import { fakeMachine, setEnv, type Machine, recordingsDir, root, setupIn, tempDir } from './support'
import { gemm } from '../support'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import type { Draft } from '../../src-main/domain/ladder/draft'
import { copiedSource, draftRung } from '../../src-main/adapters/catalog/draft-rung'
import { setUp as hostSetUp } from '../../src-main/adapters/machine/local-machine'
import {
  changedLines,
  diffBelowHeaders,
  diffSources,
} from '../../src-main/services/compare/source-diff'
import { editorCommand, openInEditor } from '../../src-main/services/app/editor'

const session = 'recorded:gemm-fp32-h200-1024'
const rung = '05_thread_tile_2d'

async function setUp(without: string[] = []): Promise<{ machine: Machine; core: Core }> {
  const machine = await fakeMachine(without)
  return { machine, core: createCore(await hostSetUp(), { host: 'web' }) }
}
const open = (core: Core, from = rung): Promise<Draft> =>
  core.call('drafts.open', { session, rung: from })
const body = ({ schema: _schema, ...draft }: Draft) => draft

/**
 * Returns the draft with a comment that makes the fake tools return the results of the original
 * rung.
 */
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
  it('has the compiled source, its own id and title, and its original as the previous rung', async () => {
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

  it('can be reopened after a restart, but only by its owner', async () => {
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

  it('is not replaced by an edit that started from an older version', async () => {
    const { core } = await setUp()
    const [first, second] = [await open(core), await open(core)]
    expect(first.id).not.toBe(second.id)
    const saved = await core.call('drafts.save', { ...body(first), source: '// first tab' })
    const { savedAt, other } = await core.call('drafts.save', {
      ...body(second),
      source: '// second tab',
    })
    expect([savedAt, other]).toEqual([saved.savedAt, await open(core)])
    expect((await open(core)).source).toBe('// first tab')
    const kept = { ...body(second), id: other!.id, source: '// second tab', savedAt }
    expect(await core.call('drafts.save', kept)).toMatchObject({ other: null })
    expect(await core.call('drafts.list', {})).toHaveLength(1)
    expect((await open(core)).source).toBe('// second tab')
  })

  it('with a damaged file is treated as missing', async () => {
    const { machine, core } = await setUp()
    const draft = await open(core)
    await mkdir(join(machine.dir, 'drafts'))
    await writeFile(join(machine.dir, 'drafts', `${draft.id}.json`), '{"schema":1,"id":"dra')
    expect(await core.call('drafts.list', {})).toEqual([])
    expect((await open(core)).savedAt).toBeNull()
  })

  it('is rejected if the rung is not in a built-in ladder', async () => {
    const { core } = await setUp()
    await expect(open(core, 'nope')).rejects.toThrow(/no source for the rung "nope"/)
  })

  it.each([
    ['../../etc/passwd', 'drafts.delete'],
    ['draft-0123456789abcdef/../x', 'drafts.delete'],
    ['', 'drafts.delete'],
  ])('cannot have the name %j', async (id, call) => {
    const { core } = await setUp()
    expect(await dispatch(core, call, { id })).toMatchObject({
      ok: false,
      error: { kind: 'input' },
    })
  })

  it('that has a malicious rung id or exceeds the source limit is not stored', async () => {
    const { machine, core } = await setUp()
    const draft = body(await open(core))
    for (const bad of [{ rung: '../../x' }, { ladder: 'a/b' }, { source: 'x'.repeat(300_001) }])
      expect(await dispatch(core, 'drafts.save', { ...draft, ...bad })).toMatchObject({ ok: false })
    expect(await readdir(join(machine.dir, 'drafts')).catch(() => [])).toEqual([])
  })
})

describe('a stored copy', () => {
  it("can be run by its rung's id, as on the command line", async () => {
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
  it('requires nvcc but no GPU, and reports the target architecture', async () => {
    const { core } = await setUp(['nvidia-smi'])
    const draft = known(await open(core))
    const answer = await core.call('drafts.build', { session, draft })
    expect(answer).toMatchObject({ built: true, reason: null, architecture: 'sm_90' })
    expect(answer.build?.registersPerThread).toBeGreaterThan(0)
  })

  it('that does not compile shows the compiler’s messages at their lines', async () => {
    const { core } = await setUp()
    const draft = await open(core)
    const source = `${draft.source}\n// fault: compile-error\n`
    const answer = await core.call('drafts.build', { session, draft: { ...body(draft), source } })
    expect(answer.built).toBe(false)
    expect(answer.diagnostics[0]).toMatchObject({ severity: 'error', line: expect.any(Number) })
  })

  it.each([
    ['// @rung    05_thread_tile_2d-edit1', '// @rung    other', 1, /this copy is/],
    ['// @dtype   f32', '// @dtype   f99', 10, /@dtype has the unknown value "f99"/],
    ['// @param   BK 8 {8,16}', '// @param   BK 8 {16}', 7, /not among its allowed values/],
  ])(
    'with %j in its header changed to %j reports a fault at line %i',
    async (from, to, line, message) => {
      const { core } = await setUp()
      const draft = await open(core)
      expect(draft.source).toContain(from)
      const answer = await core.call('drafts.build', {
        session,
        draft: { ...body(draft), source: draft.source.replace(from, to) },
      })
      expect(answer).toMatchObject({ built: false, diagnostics: [{ line }] })
      expect(answer.diagnostics[0]!.message).toMatch(message)
    },
  )

  it('reports that nvcc is missing', async () => {
    const { core } = await setUp(['nvcc'])
    await expect(
      core.call('drafts.build', { session, draft: body(await open(core)) }),
    ).rejects.toMatchObject({ kind: 'missing' })
  })
})

describe('running a copy', () => {
  it("produces a session in which the original is the copy's previous rung", async () => {
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

    // A copy of a copy gets the next number and runs after the same ladder rung.
    const second = await core.call('drafts.open', { session: finished.session, rung: draft.rung })
    expect(second).toMatchObject({ base: rung, rung: '05_thread_tile_2d-edit2' })
  })

  it('that was discarded is rejected', async () => {
    const { core } = await setUp()
    setEnv({ FAKE_FAULTS: '' })
    const messages = await runToItsEnd(core, 'draft-0000000000000000', [rung])
    expect(messages.at(-1)!.event).toMatchObject({
      type: 'finished',
      error: { message: { key: 'drafts.gone' } },
    })
  })
})

it('copying a rung rewrites its header, drops its expectations, and keeps its code', () => {
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

// Tests that source lines open in the user's editor. Only the user can set the command, and only
// the rung's files can be opened.

describe('the command', () => {
  it.each([
    ['code -g {file}:{line}', ['code', '-g', '/a b/x.cu:7']],
    ['"/opt/my editor/subl" {file}:{line}', ['/opt/my editor/subl', '/a b/x.cu:7']],
    ["emacsclient -n +{line} '{file}'", ['emacsclient', '-n', '+7', '/a b/x.cu']],
    ['gvim', ['gvim', '/a b/x.cu']],
    // No shell interprets the command.
    ['code; rm -rf {file}', ['code;', 'rm', '-rf', '/a b/x.cu']],
  ])('%s gets the file and the line', (setting, expected) => {
    expect(editorCommand(setting, '/a b/x.cu', 7)).toEqual(expected)
  })

  it('does not interpret braces in a file name', () => {
    expect(editorCommand('code -g {file}:{line}', '/a/{line}.cu', 7)).toEqual([
      'code',
      '-g',
      '/a/{line}.cu:7',
    ])
  })
})

async function desk(setting: string | null) {
  const dir = await tempDir()
  const base = setupIn(dir, { kernelsDir: join(root, 'cuda-kernels') })
  const setup: Setup = {
    ...base,
    machine: {
      ...base.machine,
      variable: (name) => (name === 'KERNEL_LADDER_EDITOR' ? setting : null),
    },
  }
  const session = await readSession(join(recordingsDir, 'gemm-fp32-h200-4096'))
  const rung = session.rungs.find(({ id }) => id === '06_float4')!
  return { dir, setup, session, rung, open: { session, folder: dir } }
}

/** Creates an editor that records its arguments. */
async function editor(dir: string): Promise<string> {
  const file = join(dir, 'my editor')
  await writeFile(file, `#!/bin/sh\nprintf '%s' "$*" > '${dir}/asked'\n`)
  await chmod(file, 0o755)
  return file
}

describe('a line in a rung', () => {
  it('in a built-in ladder opens its file', async () => {
    const dir = await tempDir()
    const { setup, open, rung } = await desk(`"${await editor(dir)}" -g {file}:{line}`)
    const file = await openInEditor(setup, open, rung, 40)
    expect(file).toBe(join(root, 'cuda-kernels', rung.file))
    await vi.waitFor(async () =>
      expect(await readFile(join(dir, 'asked'), 'utf8')).toBe(`-g ${file}:40`),
    )
  })

  it.each(['../../../etc/passwd', '/etc/passwd', 'gemm/link.cu'])(
    'from a session that contains %s opens no file',
    async (hostile) => {
      const { dir, setup, open, rung } = await desk('true')
      await mkdir(join(dir, 'sources/gemm'), { recursive: true })
      await symlink('/etc/passwd', join(dir, 'sources/gemm/link.cu'))
      await expect(openInEditor(setup, open, { ...rung, file: hostile }, 1)).rejects.toMatchObject({
        kind: 'input',
        message: 'The source of 06_float4 is not in a file on this machine.',
      })
    },
  )

  it.each([
    [null, 'No editor is set.'],
    ['/nowhere/code -g {file}', 'The editor /nowhere/code was not found.'],
    ['false', 'The editor false exited with code 1.'],
  ])('with the setting %s is rejected with a remedy', async (setting, sentence) => {
    const { setup, open, rung } = await desk(setting)
    const error = await openInEditor(setup, open, rung, 1).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'missing', message: sentence })
    expect(error).toMatchObject({ remedy: { values: { example: 'code -g {file}:{line}' } } })
  })
})

const numbered = (word: string, count: number): string =>
  Array.from({ length: count }, (_, line) => `${word} ${line}\n`).join('')

describe('the hunks between two sources', () => {
  it('contain the changed lines', () => {
    const a = numbered('line', 20)
    expect(diffSources(a, a)).toEqual([])
    expect(changedLines(a, a.replace('line 7\n', 'other\nmore\n'))).toEqual([
      { a: { from: 8, to: 8 }, b: { from: 8, to: 9 } },
    ])
  })

  it('exclude the headers, and count lines from the start of the files', () => {
    const a = `// @rung 01_a\n// @title A\n${numbered('line', 9)}`
    const b = `// @rung 02_b\n${numbered('line', 9)}`
    expect(diffSources(a, b)).not.toEqual([])
    expect(diffBelowHeaders(a, b)).toEqual([])
    const [hunk] = diffBelowHeaders(a, b.replace('line 8\n', 'other\n'))
    expect(hunk).toMatchObject({ oldStart: 8, newStart: 7 })
    expect(hunk!.lines.slice(-2)).toEqual(['-line 8', '+other'])
  })

  it('are a single hunk if thousands of lines have nothing in common', () => {
    const [a, b] = [numbered('old', 20_000), `${numbered('new', 19_999)}last`]
    const hunks = diffSources(a, b)
    expect(hunks).toHaveLength(1)
    const [{ lines, ...place }] = hunks as [(typeof hunks)[0]]
    expect(place).toEqual({ oldStart: 1, oldLines: 20_000, newStart: 1, newLines: 20_000 })
    expect(lines.filter((line) => line.startsWith('-'))).toHaveLength(20_000)
    expect(lines.slice(-2)).toEqual(['+last', '\\ No newline at end of file'])
  })
})
