/**
 * Tests the conversion of a session folder into a built-in recording. Also tests the source store
 * that recordings share.
 */
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  keepRecording,
  looseRecordings,
  sentencesOf,
  sweepAttempts,
  sweepStore,
} from '../../scripts/lib/keep-recording'
import { openRaw, rawFile } from '../../src-main/adapters/tools/raw-files'
import { readSources } from '../../src-main/adapters/sessions/session-sources'
import {
  readSession,
  shareSession,
  readSessionText,
} from '../../src-main/adapters/sessions/session-store'
import { inputError } from '../../src-main/domain/errors'
import { noAnswers } from '../../src-main/domain/labs/outcome'
import { openSession } from '../../src-main/services/sessions/open-session'
import { check, testLab } from '../services/labs/support'
import { fakeMachine, recordingsDir, setupIn, tempDir } from '../services/support'
import { said } from '../support'
import { sharedSessions, sharingSessions } from '../../src-main/adapters/disk/shared-sessions'
import {
  attemptListFile,
  listRecordedAttempts,
  recordedEvidence,
  recordedLabs,
  recordedOutcomeOf,
} from '../../src-main/adapters/labs/recorded-attempts'
import {
  readStore,
  sourceStoreFile,
  writeStore,
} from '../../src-main/adapters/sessions/source-store'
import { recordedRaw } from '../../src-main/adapters/tools/recorded-raw'

const shipped = 'seed-t4-h200'

/** Returns everything that a replay reads from a recording. */
async function read(folder: string) {
  const session = await readSession(folder)
  const raw = await openRaw(folder)
  const calls = await Promise.all(raw.keys.map((key) => raw.get(key)))
  return { session, ...(await readSources(folder, session)), calls }
}

/** Creates a folder with a built-in recording and the sources of all recordings. */
async function someRecordings(): Promise<{ dir: string; folder: string }> {
  const dir = await tempDir()
  const folder = join(dir, shipped)
  await cp(join(recordingsDir, sourceStoreFile), join(dir, sourceStoreFile))
  await shareSession((await readSessionText(join(recordingsDir, shipped)))!.text, folder)
  await cp(recordedRaw(join(recordingsDir, shipped)), recordedRaw(folder))
  return { dir, folder }
}

async function copyOf(folder: string, name: string): Promise<string> {
  const copy = join(folder, '..', name)
  await cp(folder, copy, { recursive: true })
  return copy
}

/** Removes a session's row from the shared sessions file. */
async function forget(home: string, name: string): Promise<void> {
  const file = join(home, sharedSessions)
  const rows = (await readFile(file, 'utf8')).split('\n')
  await writeFile(file, rows.filter((row) => !row.startsWith(`{"session":"${name}"`)).join('\n'))
}

const placesOf = (dir: string) => setupIn(dir, { recordingsDir: dir })

describe('storing a session as a recording', () => {
  it('adds a row, a raw output file, and the new sources, without losing displayed data', async () => {
    const machine = await fakeMachine()
    const { folder } = await machine.run({ rungs: ['01_naive', '02_coalesced'] })
    const own = join(machine.dir, 'mine')
    await rename(folder!, own)
    const dir = await tempDir()
    const kept = await keepRecording(own, dir)
    expect(existsSync(kept)).toBe(false)
    expect(await read(kept)).toEqual(await read(own))
    const again = await fakeMachine()
    const replayed = await again.run(
      { target: 'recorded:mine', rungs: ['02_coalesced'] },
      { assets: { ...placesOf(dir).assets, kernelsDir: machine.kernelsDir } },
    )
    expect(replayed.session.rungs[0]!.timing).toEqual((await readSession(own)).rungs[1]!.timing)
    const stored = await readStore(join(dir, sourceStoreFile))
    await rename(own, join(machine.dir, 'twice'))
    await keepRecording(join(machine.dir, 'twice'), dir)
    const { lists, contents } = await readStore(join(dir, sourceStoreFile))
    expect(contents).toEqual(stored.contents)
    expect(lists).toEqual(new Map([...stored.lists, ['twice', stored.lists.get('mine')]]))
    expect((await readdir(dir)).sort()).toEqual(['raw', sharedSessions, sourceStoreFile])
    expect(await readdir(join(dir, 'raw'))).toEqual(['mine.jsonl.br', 'twice.jsonl.br'])
    expect(await sharingSessions(join(dir, sharedSessions))).toEqual(['mine', 'twice'])
  })

  it('omits the location of a ladder folder', async () => {
    const machine = await fakeMachine()
    const { folder } = await machine.run({ rungs: ['01_naive'] })
    const path = join(folder!, 'session.json')
    const session = JSON.parse(await readFile(path, 'utf8')) as { ladder: { folder?: string } }
    session.ladder.folder = '/home/mallory/own'
    await writeFile(path, JSON.stringify(session))
    const kept = await keepRecording(folder!, await tempDir())
    expect((await readSessionText(kept))!.text).not.toContain('mallory')
    expect((await readSession(kept)).ladder.id).toBe('gemm-fp32')
  })

  it('produces the same bytes when a recording is stored again', async () => {
    const { dir, folder } = await someRecordings()
    const files = async () =>
      Promise.all(
        [join(dir, sourceStoreFile), join(dir, sharedSessions), recordedRaw(folder)].map((path) =>
          readFile(path),
        ),
      )
    const before = await files()
    expect(await keepRecording(folder, dir)).toBe(folder)
    expect(await files()).toEqual(before)
  })

  it("does not change another recording's files", async () => {
    const { dir, folder } = await someRecordings()
    const other = recordedRaw(folder)
    const before = [await readFile(other), (await stat(other)).mtimeMs]
    const machine = await fakeMachine()
    await keepRecording((await machine.run({ rungs: ['01_naive'] })).folder!, dir)
    await sweepStore(dir)
    expect([await readFile(other), (await stat(other)).mtimeMs]).toEqual(before)
  })

  it('removes the raw output of a recording that is no longer listed', async () => {
    const { dir, folder } = await someRecordings()
    await cp(recordedRaw(folder), recordedRaw(join(dir, 'gone')))
    await cp(recordedRaw(folder), recordedRaw(join(recordedLabs(dir), 'gone')))
    await sweepStore(dir)
    expect(await readdir(join(dir, 'raw'))).toEqual([`${shipped}.jsonl.br`])
    expect(await readdir(join(recordedLabs(dir), 'raw'))).toEqual([])
  })

  it.each([
    ['a source other than the measured one', 'source', /is not the source that was measured/],
    ['no raw output', 'raw', /has no raw output/],
    ['no session.json', 'session', /is not a session/],
  ])('rejects a session with %s, and leaves no files', async (_what, part, message) => {
    const machine = await fakeMachine()
    const { folder } = await machine.run({ rungs: ['01_naive'] })
    if (part === 'source') await writeFile(join(folder!, 'sources/gemm/01_naive.cu'), '// edited')
    if (part === 'raw') await rm(join(folder!, rawFile))
    if (part === 'session') await rm(join(folder!, 'session.json'))
    const dir = await tempDir()
    await expect(keepRecording(folder!, dir)).rejects.toThrow(message)
    expect(await readdir(dir)).toEqual([])
  })

  it('rejects raw output that is too large for the repository, and explains how to record less', async () => {
    const machine = await fakeMachine()
    const { folder } = await machine.run({ rungs: ['01_naive'] })
    const dir = await tempDir()
    await expect(keepRecording(folder!, dir, 1000)).rejects.toMatchObject({
      message: expect.stringMatching(/is 0\.0 MB compressed; the limit is 0\.0 MB\.$/) as string,
      remedy: 'Record fewer rungs with --rungs, or a lower level with --profile.',
    })
    expect(await readdir(dir)).toEqual([])
  })

  it('adds the remedy to the message of an input error, but not to other errors', () => {
    const error = inputError('No GPU was found.', 'Use a machine that has one.')
    expect(sentencesOf(error)).toBe('No GPU was found. Use a machine that has one.')
    expect(sentencesOf(new TypeError('x is undefined'))).toBeUndefined()
  })

  it("stores a lab attempt's session, one row, and only one copy of its code", async () => {
    const machine = await fakeMachine()
    const lab = await testLab(machine)
    const out = join(machine.dir, 'coalesce-solution-fake')
    const attempt = await check(machine, lab, lab.solution, noAnswers, 'local', { out })
    const file = join(out, 'attempt.json')
    const written = JSON.parse(await readFile(file, 'utf8')) as { sanitized: object }
    // Imitate an older attempt, which stores compute-sanitizer's verdicts in a separate file.
    await writeFile(join(out, 'sanitizer.json'), JSON.stringify(written.sanitized))
    await writeFile(file, JSON.stringify({ ...written, sanitized: undefined }))
    const dir = await tempDir()
    await keepRecording(await copyOf(out, 'coalesce-starter-fake'), dir)
    const kept = await keepRecording(out, dir)
    expect(await readdir(recordedLabs(dir))).toEqual(['attempts.jsonl', 'raw', sharedSessions])
    expect(await read(kept)).toEqual(await read(join(out, 'session')))

    const [first, second] = await listRecordedAttempts(dir)
    expect([first!.name, second!.name]).toEqual(['coalesce-solution-fake', 'coalesce-starter-fake'])
    expect(first!.row).toEqual({ name: first!.name, ...written })
    expect(recordedOutcomeOf(first!).outcome).toEqual(attempt.outcome)
    expect((await recordedEvidence(first!)).sanitized).toMatchObject({
      clean: [{ tool: 'memcheck', status: 'clean' }],
    })

    // Convert a recording that is stored as a folder.
    await cp(join(out, 'session'), kept, { recursive: true })
    expect(await looseRecordings(dir)).toEqual([kept])

    // Convert twice more: first from the attempt, then the stored recording in place.
    const list = await readFile(attemptListFile(dir), 'utf8')
    await keepRecording(out, dir)
    expect(await keepRecording(kept, dir)).toBe(kept)
    expect(await readFile(attemptListFile(dir), 'utf8')).toBe(list)
    await writeFile(join(out, 'lab.cu'), '// another')
    await expect(keepRecording(out, dir)).rejects.toThrow(/lab\.cu is not the code/)
    expect(await readFile(attemptListFile(dir), 'utf8')).toBe(list)

    await forget(recordedLabs(dir), first!.name)
    expect(await sweepAttempts(dir)).toBe(1)
    await sweepStore(dir)
    expect((await listRecordedAttempts(dir)).map(({ name }) => name)).toEqual([second!.name])
    expect((await openRaw(kept)).keys).toEqual([])
    expect((await openRaw(second!.folder)).keys).not.toEqual([])
  })
})

describe('the store', () => {
  it.each([
    ['recording', recordingsDir],
    ['lab attempt', recordedLabs(recordingsDir)],
  ])('has exactly one raw output file for every %s', async (_what, home) => {
    const names = await sharingSessions(join(home, sharedSessions))
    expect((await readdir(join(home, 'raw'))).sort()).toEqual(
      names.map((name) => `${name}.jsonl.br`).sort(),
    )
    for (const name of names) expect((await openRaw(join(home, name))).keys, name).not.toEqual([])
    expect(existsSync(join(home, rawFile))).toBe(false)
  })

  it('uses at most 5 MB per file and 40 MB in total', async () => {
    const entries = await readdir(recordingsDir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    )
    expect(Math.max(...sizes)).toBeLessThan(5e6)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40e6)
  })

  it('has exactly the sources and attempts of all recordings, and its attempts are sorted', async () => {
    const { dir } = await someRecordings()
    await rm(dir, { recursive: true })
    await cp(recordingsDir, dir, { recursive: true })
    const store = join(dir, sourceStoreFile)
    const before = await readFile(store, 'utf8')
    const { lists, contents } = await readStore(store)
    const nobody = '0'.repeat(64)
    await writeStore(store, {
      lists: new Map([...lists, ['removed', { 'gone.cu': nobody }]]),
      contents: new Map([...contents, [nobody, '// of nobody']]),
    })
    expect(await sweepStore(dir)).toBe(contents.size)
    expect(await readFile(store, 'utf8')).toBe(before)
    const list = await readFile(attemptListFile(dir), 'utf8')
    expect(await sweepAttempts(dir)).toBe((await listRecordedAttempts(recordingsDir)).length)
    expect(await readFile(attemptListFile(dir), 'utf8')).toBe(list)
  })

  it('opens a recording with a missing source, and reports the source and the reason', async () => {
    const { dir } = await someRecordings()
    const whole = await openSession(placesOf(dir), `recorded:${shipped}`)
    const store = join(dir, sourceStoreFile)
    const { lists, contents } = await readStore(store)
    const { id, file } = whole.session.rungs[1]!
    const hash = lists.get(shipped)![file]!
    const holds = (contents: Map<string, string>) => writeStore(store, { lists, contents })
    const without = new Map([...contents].filter(([one]) => one !== hash))
    for (const [damage, why] of [
      [() => holds(without), `The source ${file} cannot be shown: ${store} does not`],
      [
        () => holds(without.set(hash, '// another')),
        `The source ${file} cannot be shown: its SHA-256 in ${store} differs from the recorded one`,
      ],
      [() => writeFile(store, '{"sha256":'), `The sources cannot be shown: ${store} is damaged`],
      [() => rm(store), `The sources cannot be shown: ${join(dir, shipped, 'sources')} does not`],
    ] as const) {
      await damage()
      const { session, sources } = await openSession(placesOf(dir), `recorded:${shipped}`)
      const { warnings, ...rest } = session
      const { warnings: before, ...all } = whole.session
      expect(rest).toEqual(all)
      expect(warnings.slice(0, before.length)).toEqual(before)
      expect(said(warnings).slice(before.length)).toEqual([expect.stringContaining(why)])
      expect(sources[id]).toBeUndefined()
    }
  })
})
