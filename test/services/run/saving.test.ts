import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  draftSession,
  listSessions,
  parseSession,
  readSession,
  readSources,
} from '../../../src-main/adapters/sessions/session-store'
import { diskError } from '../../../src-main/adapters/disk/disk'
import { fakeMachine, ladderRungs, tempDir } from '../support'

const shipped = 'resources/recordings/gemm-fp32-h200-1024'

const text = await readFile(join(shipped, 'session.json'), 'utf8')

describe('saving a session', () => {
  it('appears whole under its name, and leaves nothing beside it', async () => {
    const machine = await fakeMachine()
    const out = join(machine.dir, 'deep', 'er', 'session')
    const { session, folder } = await machine.run({}, { out })
    expect(folder).toBe(out)
    expect(await readSession(out)).toEqual(session)
    expect(await readdir(join(machine.dir, 'deep', 'er'))).toEqual(['session'])
    expect(Object.keys(await readSources(out, session)).sort()).toEqual(ladderRungs.toSorted())
  })

  it('keeps every source as it was compiled', async () => {
    const machine = await fakeMachine()
    const { session, folder } = await machine.run()
    await machine.editRung('01_naive', () => '// gone')
    const sources = await readSources(folder!, session)
    expect(sources['01_naive']).toContain('gemmNaive')
  })

  it('gives two runs in one second two folders', async () => {
    const machine = await fakeMachine()
    const [a, b] = await Promise.all([
      machine.run({ rungs: ['01_naive'] }),
      machine.run({ rungs: ['02_coalesced'] }),
    ])
    expect(a.folder).not.toBe(b.folder)
    expect(await readdir(machine.store)).toHaveLength(2)
  })

  it('refuses a folder that exists before anything runs, and leaves it alone', async () => {
    const machine = await fakeMachine()
    const out = join(machine.dir, 'there')
    await mkdir(out)
    await expect(machine.run({}, { out })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('exists already') as string,
    })
    expect(machine.calls()).toEqual([])
    expect(await readdir(out)).toEqual([])
  })

  it('refuses a place where a file is in the way', async () => {
    const machine = await fakeMachine()
    await writeFile(join(machine.dir, 'file'), '')
    await expect(machine.run({}, { out: join(machine.dir, 'file', 'x') })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('a file is in the way') as string,
    })
  })

  it.skipIf(process.getuid?.() === 0)('refuses a folder that is not writable', async () => {
    const dir = await tempDir()
    await chmod(dir, 0o500)
    await expect(draftSession(join(dir, 'x'))).rejects.toMatchObject({ kind: 'input' })
  })

  it.each([
    ['ENOSPC', 'failed', /the disk is full/],
    ['EDQUOT', 'failed', /the disk is full/],
    ['EACCES', 'input', /may not write there/],
    ['EROFS', 'input', /may not write there/],
    ['EIO', 'failed', /input\/output error/],
  ])('says what the disk refuses (%s)', (code, kind, message) => {
    const refusal = Object.assign(new Error('input/output error'), { code })
    expect(diskError(refusal, '/somewhere', 'save')).toMatchObject({
      kind,
      message: expect.stringMatching(message) as string,
    })
  })

  it('returns from a file system that answers nonsense', async () => {
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
    ['cut off', text.slice(0, 500), /is not JSON/],
    ['empty', '', /is not JSON/],
    ['another document', '{"hello": 1}', /does not say its schema version/],
    ['newer', edited((session) => (session.schema = 99)), /a newer kernel-ladder wrote it/],
    ['without rungs', edited((session) => delete session.rungs), /rungs/],
    [
      'with a time that is text',
      text.replace(/"medianMs": [\d.]+/, '"medianMs": "fast"'),
      /medianMs/,
    ],
  ])('that is damaged (%s) says so and what to do', (_case, damaged, why) => {
    expect(() => parseSession(damaged, 'x/session.json')).toThrow(
      expect.objectContaining({
        kind: 'input',
        message: expect.stringMatching(why) as string,
        remedy: expect.stringContaining('left as it was') as string,
      }) as Error,
    )
  })

  it('lists the others beside a damaged one', async () => {
    const machine = await fakeMachine()
    await machine.run({ rungs: ['01_naive'] })
    await mkdir(join(machine.store, 'broken'))
    await writeFile(join(machine.store, 'broken', 'session.json'), '{')
    const listed = await listSessions(machine.store)
    expect(listed.map(({ name, problem }) => [name === 'broken', problem !== null])).toEqual([
      [false, false],
      [true, true],
    ])
  })

  it('takes no source from outside its folder', async () => {
    const session = await readSession(shipped)
    const hostile = {
      ...session,
      rungs: [{ ...session.rungs[0]!, file: '../../../../package.json' }],
    }
    expect(await readSources(shipped, hostile)).toEqual({})
  })
})
