/** Tests ladder folders as the UI uses them, with fake tools. */
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCore } from '../../src-main/services/app/core'
import { dispatch, type Core } from '../../src-main/contract'
import { root, rungText, sumsFolder, sumsYaml, fakeMachine, tempDir, type Machine } from './support'
import { message, together } from '../../src-main/domain/messages/message'
import { said, saying } from '../support'
import { isTrustedFolder, trustFolder } from '../../src-main/services/folders/folder-trust'
import { placedFaults } from '../../src-main/services/folders/placed-faults'

async function machineWith(options: Parameters<typeof sumsFolder>[1] = {}, without: string[] = []) {
  const machine = await fakeMachine(without)
  const path = await sumsFolder(machine, options)
  const core = createCore(machine.setup, { host: 'web' })
  return { machine, path, core }
}
const open = (core: Core, path: string) => core.call('folders.open', { path })
const fileOf = async (core: Core, path: string, name: string) =>
  (await open(core, path)).files.find((file) => file.name === name)!

describe('an opened folder', () => {
  it('shows its ladder and files before it is built', async () => {
    const { machine, path, core } = await machineWith({ trusted: false })
    await writeFile(join(path, 'secret.txt'), 'not named')
    const view = await open(core, path)
    expect(view).toMatchObject({ path, trusted: false, faults: [] })
    expect(view.ladder?.rungs.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(view.files.map(({ name, kind }) => [name, kind])).toEqual([
      ['ladder.yaml', 'ladder'],
      ['a.cu', 'rung'],
      ['b.cu', 'rung'],
      ['c.cu', 'rung'],
      ['reference.cu', 'reference'],
      ['parts.cuh', 'header'],
    ])
    await expect(core.call('folders.build', { path, file: 'b.cu' })).rejects.toThrow(
      /have not trusted/,
    )
    await expect(
      core.call('watch.start', { ladder: path, target: 'local', params: {}, profile: 'none' }),
    ).rejects.toThrow(/have not trusted/)
    expect(machine.calls()).toEqual([])
    await core.call('folders.trust', { path })
    expect((await open(core, path)).trusted).toBe(true)
  })

  it('stays trusted if other folders are trusted at the same time', async () => {
    const { folders } = (await fakeMachine()).setup.machine
    const paths = await Promise.all(Array.from({ length: 8 }, () => tempDir()))
    await Promise.all(paths.map((path) => trustFolder(folders, path)))
    for (const path of paths) expect(await isTrustedFolder(folders, path)).toBe(true)
  })

  it('opens despite faults, and reports their locations', async () => {
    const { path, core } = await machineWith({
      yaml: sumsYaml.replace('summary:', 'sumary:').replace('title: Sums', 'title: 3'),
    })
    const view = await open(core, path)
    expect(view.ladder).toBeNull()
    expect(view.faults).toContainEqual({
      file: 'ladder.yaml',
      line: 4,
      column: 1,
      message: saying('There is no key "sumary". Did you mean summary?'),
    })
    expect(view.faults.length).toBeGreaterThan(1)
    expect(view.files.map(({ name }) => name)).toEqual(['ladder.yaml'])
  })

  it('lists a rung that has a faulty header or no file yet among its files', async () => {
    const { path, core } = await machineWith()
    await writeFile(join(path, 'b.cu'), '// @rung b\n// @title b\n// @idae x\n')
    await rm(join(path, 'c.cu'))
    const view = await open(core, path)
    expect(view.faults).toMatchObject([
      { file: 'b.cu', line: 3 },
      { file: 'ladder.yaml', line: 16, message: saying('There is no c.cu in the folder.') },
    ])
    expect(view.files.find(({ name }) => name === 'c.cu')).toMatchObject({
      text: '',
      version: null,
    })
  })

  it('never shows the target of a link that leads outside the folder', async () => {
    const { machine, path, core } = await machineWith()
    await writeFile(join(machine.dir, 'private'), 'mine')
    await rm(join(path, 'b.cu'))
    await symlink(join(machine.dir, 'private'), join(path, 'b.cu'))
    const view = await open(core, path)
    expect(JSON.stringify(view)).not.toContain('mine')
    const linked = view.files.find(({ name }) => name === 'b.cu')!
    expect(linked.locked).toMatch(/a link to a file outside/)
    const save = core.call('folders.save', { path, file: 'b.cu', text: 'x', version: null })
    await expect(save).rejects.toThrow(/a link to a file outside/)
    expect(await readFile(join(machine.dir, 'private'), 'utf8')).toBe('mine')
  })

  it('is remembered until it is forgotten, and is marked as missing after its removal', async () => {
    const { machine, path, core } = await machineWith()
    await open(core, path)
    const list = async () => (await core.call('folders.list', {})).folders
    expect(await list()).toMatchObject([{ path, state: 'ready', ladder: { id: 'sums' } }])
    await rename(path, join(machine.dir, 'elsewhere'))
    expect(await list()).toMatchObject([{ path, state: 'gone', ladder: null }])
    await expect(open(core, path)).rejects.toThrow(/There is no folder/)
    await core.call('folders.forget', { path })
    expect(await list()).toEqual([])
  })
})

describe('a path', () => {
  it("is completed only with the user's own folders", async () => {
    const { machine, path, core } = await machineWith()
    const home = join(machine.dir, 'home')
    await mkdir(join(home, 'kernels', '.hidden'), { recursive: true })
    await mkdir(join(home, 'kernels', 'softmax'))
    await symlink(machine.dir, join(home, 'kernels', 'out'))
    await writeFile(join(home, 'kernels', 'softmax', 'ladder.yaml'), '')
    const own = { ...machine.setup.machine, folders: { ...machine.setup.machine.folders, home } }
    const homely = createCore({ ...machine.setup, machine: own }, { host: 'web' })
    const complete = async (typed: string) =>
      (await homely.call('folders.complete', { typed })).folders
    expect(await complete('~/ker')).toEqual([{ path: join(home, 'kernels'), isLadder: false }])
    expect(await complete('~/kernels/')).toEqual([
      { path: join(home, 'kernels', 'softmax'), isLadder: true },
    ])
    expect(await complete(join(home, 'kernels', 'out/'))).toEqual([])
    expect(await complete(join(path, '..', ''))).toEqual([])
    expect(await complete('/etc/')).toEqual([])
    await core.close()
  })
})

describe('a save', () => {
  it('replaces the whole file, with its permissions and line endings', async () => {
    const { path, core } = await machineWith()
    const file = join(path, 'b.cu')
    await writeFile(file, rungText('b').replaceAll('\n', '\r\n'))
    await chmod(file, 0o640)
    const { text, version } = await fileOf(core, path, 'b.cu')
    expect(text).toBe(rungText('b'))
    const edited = `${text}// more\n`
    const answer = await core.call('folders.save', { path, file: 'b.cu', text: edited, version })
    expect(await readFile(file, 'utf8')).toBe(edited.replaceAll('\n', '\r\n'))
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    expect(answer).toEqual({ state: 'saved', version: (await fileOf(core, path, 'b.cu')).version })
    expect((await readdir(path)).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('writes nothing if another program changed the file, unless the request has the new version', async () => {
    const { path, core } = await machineWith()
    const { version } = await fileOf(core, path, 'b.cu')
    await writeFile(join(path, 'b.cu'), 'theirs')
    const save = (from: string | null) =>
      core.call('folders.save', { path, file: 'b.cu', text: 'ours', version: from })
    const refused = await save(version)
    expect(refused).toMatchObject({ state: 'changed', text: 'theirs' })
    expect(await readFile(join(path, 'b.cu'), 'utf8')).toBe('theirs')
    expect(await save(refused.version)).toMatchObject({ state: 'saved' })
    await rm(join(path, 'b.cu'))
    expect(await save(version)).toEqual({ state: 'changed', version: null, text: null })
    expect(await save(null)).toMatchObject({ state: 'saved' })
    expect(await readFile(join(path, 'b.cu'), 'utf8')).toBe('ours')
  })

  it('is limited to files in an opened ladder', async () => {
    const { machine, path, core } = await machineWith()
    const save = (more: object) => {
      const usual = { path, file: 'b.cu', text: 'x', version: null }
      return dispatch(core, 'folders.save', { ...usual, ...more })
    }
    expect(await save({})).toMatchObject({ error: { message: { key: 'folders.notOpen' } } })
    await open(core, path)
    for (const file of ['../x.cu', '/x.cu', 'a/../../x.cu', '.git/x.cu', '.bashrc', 'run.sh'])
      expect(await save({ file }), file).toMatchObject({ ok: false })
    await symlink(machine.dir, join(path, 'out'))
    expect(await save({ file: 'out/x.cu' })).toMatchObject({ ok: false })
    await writeFile(join(path, 'b.cu'), Buffer.from([0x2f, 0x2f, 0xff, 0x0a]))
    const { locked, version } = await fileOf(core, path, 'b.cu')
    expect(locked).toMatch(/is not UTF-8/)
    expect(await save({ version })).toMatchObject({ error: { message: locked } })
  })
})

describe('a build', () => {
  const build = (core: Core, path: string, file: string) =>
    core.call('folders.build', { path, file })

  it('compiles one source, and shows the compiler’s messages at their lines', async () => {
    const { path, core } = await machineWith()
    await open(core, path)
    await writeFile(join(path, 'b.cu'), rungText('b', 'int x = undeclared;'))
    expect(await build(core, path, 'b.cu')).toMatchObject({
      architecture: 'sm_90',
      ownGpu: true,
      sources: [
        {
          ...{ file: 'b.cu', rung: 'b', built: false },
          diagnostics: [{ severity: 'error', file: 'b.cu', line: 5 }],
        },
      ],
    })
    expect((await build(core, path, 'reference.cu')).sources).toMatchObject([
      { file: 'reference.cu', rung: null, built: true },
    ])
  })

  it('compiles all sources without a GPU if a header or the ladder changed', async () => {
    const { machine, path, core } = await machineWith({}, ['nvidia-smi', 'ncu'])
    await open(core, path)
    const { ownGpu, sources } = await build(core, path, 'parts.cuh')
    expect(ownGpu).toBe(false)
    expect(sources.map(({ rung, built }) => [rung, built])).toEqual([
      [null, true],
      ['a', true],
      ['b', true],
      ['c', true],
    ])
    expect(machine.calls('runner')).toEqual([])
  })

  it('reports an unusable header without running nvcc', async () => {
    const { machine, path, core } = await machineWith()
    await open(core, path)
    await writeFile(join(path, 'b.cu'), '// @rung b\n// @title b\n// @idae x\n')
    const { sources } = await build(core, path, 'b.cu')
    expect(sources).toMatchObject([
      { built: false, diagnostics: [{ file: 'b.cu', line: 3, severity: 'error' }] },
    ])
    expect(machine.calls('nvcc')).toEqual([])
  })
})

it('a ladder folder stores faults as messages, so that the UI can translate them', () => {
  const at = (place: string, key: string) =>
    message('written.fault', { place, fault: message('task.missing', { name: key }) })
  const advice = message('header.seeMetrics')
  expect(
    placedFaults(
      together(
        at('/x/y/ladder.yaml:3:5', 'a'),
        message('written.lines', { first: at('/x/y/b.cu:2', 'b'), more: at('/x/y/c.py', 'c') }),
        advice,
      ),
      '/x/y',
    ),
  ).toEqual([
    { file: 'ladder.yaml', line: 3, column: 5, message: message('task.missing', { name: 'a' }) },
    { file: 'b.cu', line: 2, column: null, message: message('task.missing', { name: 'b' }) },
    {
      ...{ file: 'c.py', line: null, column: null },
      message: together(message('task.missing', { name: 'c' }), advice),
    },
  ])
})

it('a fault with a location is distinguished from a sentence without a location', () => {
  expect(
    placedFaults('/x/y/ladder.yaml:3:5: Bad. Do this.\n/x/y/b.cu:2: Worse.\nNo place.', '/x/y'),
  ).toEqual([
    { file: 'ladder.yaml', line: 3, column: 5, message: 'Bad. Do this.' },
    { file: 'b.cu', line: 2, column: null, message: 'Worse.' },
    { file: null, line: null, column: null, message: 'No place.' },
  ])
})

describe('a watched folder', () => {
  const request = (ladder: string) => ({
    ladder,
    target: 'local',
    params: {},
    profile: 'none' as const,
  })
  const current = (core: Core) => core.call('watch.current', {})
  type Watching = Extract<Awaited<ReturnType<typeof current>>, { on: true }>
  async function until(core: Core, wanted: (state: Watching) => boolean): Promise<Watching> {
    for (;;) {
      const state = await current(core)
      if (state.on && wanted(state)) return state
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
  }
  const settled = (rounds: number) => (state: Watching) =>
    state.rounds === rounds && state.phase === 'waiting'
  const built = (machine: Machine, file: string) =>
    machine.calls('nvcc').filter((words) => words.includes(`sums/${file}`)).length

  it('runs the changed rung and the reference, and compares the results with the previous run', async () => {
    const { machine, path, core } = await machineWith()
    await core.call('watch.start', request(path))
    const first = await until(core, settled(1))
    expect(first.rungs.map(({ id, verdict, beforeMs }) => [id, verdict, beforeMs])).toEqual([
      ['a', 'new', null],
      ['b', 'new', null],
      ['c', 'new', null],
    ])
    await writeFile(join(path, 'b.cu'), rungText('b', '', '06_float4'))
    const second = await until(core, settled(2))
    const [a, b, c] = second.rungs
    expect(b).toMatchObject({ verdict: 'faster', fresh: true, beforeMs: first.rungs[1]!.nowMs })
    expect(b!.change!.high).toBeLessThan(1)
    expect(a).toMatchObject({ verdict: 'same', fresh: true })
    expect(c).toMatchObject({ fresh: false, nowMs: first.rungs[2]!.nowMs })
    expect(['a.cu', 'b.cu', 'c.cu'].map((file) => built(machine, file))).toEqual([1, 2, 1])
    const session = await core.call('sessions.get', { ref: second.session! })
    expect(session.rungs.map(({ id }) => id)).toEqual(['a', 'b'])

    await core.call('watch.stop', {})
    expect(await current(core)).toEqual({ on: false })
    await core.close()
  })
})

describe('a rung in a session', () => {
  async function ran(options: Parameters<typeof sumsFolder>[1] = {}) {
    const { machine, path, core } = await machineWith(options)
    await machine.run({ ladder: path, size: undefined, profile: 'none' })
    const listed = await core.call('sessions.list', {})
    const { ref } = listed.find(({ ladder }) => ladder.id === 'sums')!
    const place = () => core.call('drafts.place', { session: ref, rung: 'b' })
    return { machine, path, core, place }
  }

  it('from a ladder folder is edited in place, even if the ladder file has a fault', async () => {
    const { path, place } = await ran()
    expect(await place()).toEqual({ at: 'folder', path, file: 'b.cu' })
    await writeFile(join(path, 'ladder.yaml'), 'id: [')
    expect(await place()).toMatchObject({ at: 'folder', path })
  })

  it('from a moved ladder folder can be edited only after the folder is opened', async () => {
    const { machine, path, core, place } = await ran()
    const moved = join(machine.dir, 'moved')
    await rename(path, moved)
    expect(said(await place())).toEqual({
      at: 'nowhere',
      reason: `${path} no longer contains the ladder sums. Open the ladder’s folder to edit its files.`,
    })
    await open(core, moved)
    expect(await place()).toEqual({ at: 'folder', path: moved, file: 'b.cu' })
    await rm(moved, { recursive: true })
    expect(await place()).toMatchObject({ at: 'nowhere' })
  })

  it('from a replaced ladder is not searched for in the new ladder', async () => {
    const { path, place } = await ran()
    await writeFile(join(path, 'ladder.yaml'), sumsYaml.replace('id: sums', 'id: others'))
    expect(await place()).toMatchObject({ at: 'nowhere' })
  })

  it('from a built-in ladder is edited as a copy', async () => {
    const { core } = await machineWith()
    const session = 'recorded:gemm-fp32-h200-1024'
    expect(await core.call('drafts.place', { session, rung: '01_naive' })).toEqual({ at: 'copy' })
  })

  it('from an imported report cannot be edited, and gets instructions to create a ladder', async () => {
    const { core } = await machineWith()
    const report = join(root, 'test/captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep')
    const { ref } = await core.importFile(report)
    const { rungs } = await core.call('sessions.get', { ref })
    expect(said(await core.call('drafts.place', { session: ref, rung: rungs[0]!.id }))).toEqual({
      at: 'nowhere',
      reason:
        'An imported report contains no ladder to edit. To edit the report’s kernel, create a ladder folder from the source file: `kernel-ladder init --from FILE`.',
    })
  })
})
