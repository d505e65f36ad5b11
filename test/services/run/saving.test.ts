import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  draftSession,
  parseSession,
  readSession,
  readSessionText,
} from '../../../src-main/adapters/sessions/session-store'
import { readSources } from '../../../src-main/adapters/sessions/session-sources'
import { diskError } from '../../../src-main/adapters/disk/disk'
import { openRaw } from '../../../src-main/adapters/tools/raw-files'
import { readTitle } from '../../../src-main/adapters/sessions/labels-and-trash'
import { said, saying } from '../../support'
import { eventLog, fakeMachine, ladderRungs, setEnv, setupIn, tempDir } from '../support'
import { message } from '../../../src-main/domain/messages/message'
import { listAll } from '../../../src-main/services/sessions/list-sessions'

const shipped = 'resources/recordings/gemm-fp32-h200-1024'

const { text } = (await readSessionText(shipped))!

describe('saving a session', () => {
  it('creates the complete session under its name, and leaves no other files', async () => {
    const machine = await fakeMachine()
    const out = join(machine.dir, 'deep', 'er', 'session')
    const { session, folder } = await machine.run({}, { out })
    expect(folder).toBe(out)
    expect(await readSession(out)).toEqual(session)
    expect(await readdir(join(machine.dir, 'deep', 'er'))).toEqual(['session'])
    expect(Object.keys((await readSources(out, session)).texts).sort()).toEqual(
      ladderRungs.toSorted(),
    )
  })

  it('stores every source as it was compiled', async () => {
    const machine = await fakeMachine()
    const { session, folder } = await machine.run()
    await machine.editRung('01_naive', () => '// gone')
    const { texts } = await readSources(folder!, session)
    expect(texts['01_naive']).toContain('one thread per element of C')
    for (const file of ['include/kl_common.cuh', 'include/kl_task.h', 'gemm/gemm_common.cuh'])
      expect(await readFile(join(folder!, 'sources', file), 'utf8'), file).not.toBe('')
  })

  it('gives two runs in the same second separate folders', async () => {
    const machine = await fakeMachine()
    const [a, b] = await Promise.all([
      machine.run({ rungs: ['01_naive'] }),
      machine.run({ rungs: ['02_coalesced'] }),
    ])
    expect(a.folder).not.toBe(b.folder)
    expect(await readdir(machine.store)).toHaveLength(2)
  })

  it('gives drafts with the same name the next free names, and overwrites no draft', async () => {
    const dir = await tempDir()
    const session = await readSession(shipped)
    const drafts = [1, 2, 3].map(() => draftSession(join(dir, 'mine')))
    const folders = await Promise.all(drafts.map(async (draft) => (await draft).commit(session)))
    expect(folders.toSorted()).toEqual(['mine', 'mine-2', 'mine-3'].map((name) => join(dir, name)))
    expect((await readdir(dir)).toSorted()).toEqual(['mine', 'mine-2', 'mine-3'])
    for (const folder of folders) expect(await readdir(folder)).toEqual(['session.json'])
  })

  it.each(['mkdir', 'write'] as const)(
    "uses the next free name if the session's path was created in the meantime (%s)",
    async (kind) => {
      const taken = join(await tempDir(), 'mine')
      const draft = await draftSession(taken)
      await (kind === 'mkdir' ? mkdir(taken) : writeFile(taken, 'theirs'))
      expect(await draft.commit(await readSession(shipped))).toBe(`${taken}-2`)
      if (kind === 'write') expect(await readFile(taken, 'utf8')).toBe('theirs')
    },
  )

  /**
   * Returns an event listener that calls `meddle` with the hidden folder of a run in `dir` after the
   * build.
   */
  const meddling = (dir: string, meddle: (staged: string) => void) =>
    eventLog((event) => {
      if (event.type === 'stage' && event.stage === 'measure' && event.done === 0)
        for (const name of readdirSync(dir).filter((name) => name.startsWith('.')))
          meddle(join(dir, name))
    })

  it('saves the session in the requested folder with a note if raw output could not be stored', async () => {
    const machine = await fakeMachine()
    const place = join(machine.dir, 'place')
    const { emit } = meddling(place, (staged) => {
      rmSync(join(staged, 'raw.jsonl'))
      mkdirSync(join(staged, 'raw.jsonl'))
    })
    const { folder, unsaved } = await machine.run({}, { out: join(place, 'x'), emit })
    expect([folder, unsaved]).toEqual([join(place, 'x'), null])
    const session = await readSession(folder!)
    expect(session.rungs.every(({ timing }) => timing !== null)).toBe(true)
    expect(said(session.warnings)).toEqual([
      expect.stringMatching(
        /^Raw output is missing, so this session cannot be replayed in full: .*, …\. The file could not be written \(/,
      ),
    ])
  })

  it.each(['the store', 'the temporary folder'])(
    'saves the session and its raw output in %s if the requested folder cannot be used',
    async (where) => {
      const machine = await fakeMachine()
      const place = join(machine.dir, 'place')
      const temporary = await tempDir()
      setEnv({ TMPDIR: temporary })
      expect(tmpdir()).toBe(temporary)
      if (where !== 'the store') await writeFile(machine.store, 'in the way')
      const { emit } = meddling(place, (staged) => {
        mkdirSync(join(staged, 'session.json'))
      })
      const { folder, unsaved } = await machine.run({}, { out: join(place, 'x'), emit })
      expect(folder?.startsWith(where === 'the store' ? machine.store : temporary)).toBe(true)
      expect(unsaved).toMatchObject({
        kind: 'failed',
        message: saying(join(place, 'x')),
        remedy: message('sessions.savedIn', { folder: folder! }),
      })
      const session = await readSession(folder!)
      expect(session.warnings).toEqual([])
      expect(Object.keys((await readSources(folder!, session)).texts).sort()).toEqual(
        ladderRungs.toSorted(),
      )
      expect((await openRaw(folder!)).keys).toContainEqual(expect.stringMatching(/^ncu\//))
      expect(await readdir(place)).toEqual([])
    },
  )

  it('rejects an existing folder before anything runs, and does not change it', async () => {
    const machine = await fakeMachine()
    const out = join(machine.dir, 'there')
    await mkdir(out)
    await expect(machine.run({}, { out })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('already exists') as string,
    })
    expect(machine.calls()).toEqual([])
    expect(await readdir(out)).toEqual([])
  })

  it('rejects a path that leads through a file', async () => {
    const machine = await fakeMachine()
    await writeFile(join(machine.dir, 'file'), '')
    await expect(machine.run({}, { out: join(machine.dir, 'file', 'x') })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('a file with that name exists') as string,
    })
  })

  it.skipIf(process.getuid?.() === 0)('rejects a folder that is not writable', async () => {
    const dir = await tempDir()
    await chmod(dir, 0o500)
    await expect(draftSession(join(dir, 'x'))).rejects.toMatchObject({ kind: 'input' })
  })

  it.each([
    ['ENOSPC', 'failed', /the disk is full/],
    ['EDQUOT', 'failed', /the disk is full/],
    ['EACCES', 'input', /not permitted to write there/],
    ['EROFS', 'input', /not permitted to write there/],
    ['EIO', 'failed', /input\/output error/],
  ])('reports disk errors (%s)', (code, kind, message) => {
    const refusal = Object.assign(new Error('input/output error'), { code })
    expect(diskError(refusal, '/somewhere', 'save')).toMatchObject({
      kind,
      message: expect.stringMatching(message) as string,
    })
  })

  it('rejects a folder that the file system cannot create', async () => {
    await expect(draftSession('/proc/nope/x')).rejects.toMatchObject({ kind: 'input' })
  })
})

describe('reading a session', () => {
  const edited = (edit: (session: Record<string, unknown>) => void): string => {
    const session = JSON.parse(text) as Record<string, unknown>
    edit(session)
    return JSON.stringify(session)
  }

  it.each([
    ['truncated', text.slice(0, 500), /is not JSON/],
    ['empty', '', /is not JSON/],
    ['a different document', '{"hello": 1}', /has no schema version/],
    [
      'newer',
      edited((session) => (session.schema = 99)),
      /it was written by a newer kernel-ladder/,
    ],
    ['without rungs', edited((session) => delete session.rungs), /rungs/],
    ['with a time as text', text.replace(/"medianMs": ?[\d.]+/, '"medianMs": "fast"'), /medianMs/],
  ])('reports a damaged session with a remedy (%s)', (_case, damaged, why) => {
    expect(() => parseSession(damaged, 'x/session.json')).toThrow(
      expect.objectContaining({
        kind: 'input',
        message: expect.stringMatching(why) as string,
        remedy: saying('was not changed'),
      }) as Error,
    )
  })

  it('lists other sessions in addition to a damaged session', async () => {
    const machine = await fakeMachine()
    await machine.run({ rungs: ['01_naive'] })
    await mkdir(join(machine.store, 'broken'))
    await writeFile(join(machine.store, 'broken', 'session.json'), '{')
    const listed = (await listAll(machine.setup)).filter(({ kind }) => kind === 'live')
    expect(listed.map(({ name, damaged }) => [name === 'broken', damaged !== undefined])).toEqual([
      [false, false],
      [true, true],
    ])
  })

  it.skipIf(process.platform === 'win32')(
    'does not wait for a writer if a file was replaced with a pipe',
    async () => {
      const dir = await tempDir()
      const store = join(dir, 'sessions')
      const draft = await draftSession(join(store, 'whole'))
      const folder = await draft.commit(await readSession(shipped))
      await mkdir(join(store, 'piped'))
      for (const path of [join(store, 'piped', 'session.json'), join(folder, 'label.json')])
        expect(spawnSync('mkfifo', [path]).status).toBe(0)
      const places = setupIn(dir)
      const listed = (await listAll(places)).filter(({ kind }) => kind === 'live')
      expect(listed.map(({ name, damaged }) => [name, damaged])).toEqual([
        ['whole', undefined],
        ['piped', saying('session.json is not a file.')],
      ])
      expect(await readTitle(folder)).toBeNull()
    },
  )

  it('uses no source through a link that leads outside the session', async () => {
    const dir = await tempDir()
    await writeFile(join(dir, 'private'), 'not for a report')
    const session = await readSession(shipped)
    const [first, second, third] = session.rungs
    const linked = (links: string) => join(dir, links)
    const draft = await draftSession(linked('file'))
    await draft.addSource(second!.file, '// own')
    const folder = await draft.commit({ ...session, rungs: [first!, second!] })
    await symlink(join(dir, 'private'), join(folder, 'sources', first!.file))
    expect(await readSources(folder, session)).toEqual({
      texts: { [second!.id]: '// own' },
      faults: [],
    })

    // Replace the sources/ folder itself with a link.
    await rename(join(folder, 'sources'), linked('elsewhere'))
    await symlink(linked('elsewhere'), join(folder, 'sources'))
    expect(await readSources(folder, { ...session, rungs: [second!, third!] })).toEqual({
      texts: {},
      faults: [],
    })
  })

  it('does not read a source outside the session folder', async () => {
    const machine = await fakeMachine()
    const { session, folder } = await machine.run({ rungs: ['01_naive'] })
    const hostile = { rungs: [{ ...session.rungs[0]!, file: '../session.json' }] }
    expect(await readSources(folder!, hostile)).toEqual({ texts: {}, faults: [] })
  })
})
