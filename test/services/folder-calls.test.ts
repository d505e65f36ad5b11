/** Ladder folders as a UI has them: opened, edited in place, built, and watched. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCore } from '../../src-main/services/core'
import type { Core } from '../../src-main/contract'
import { fakeMachine, type Machine } from './support'

async function opened(): Promise<{ machine: Machine; core: Core; folder: string }> {
  const machine = await fakeMachine()
  const core = createCore(machine.setup, { host: 'web' })
  const folder = join(machine.dir, 'lab')
  await core.call('folders.init', { folder, template: 'blank' })
  // What the fake tools know a rung by.
  for (const id of ['01_first', '02_coalesced']) {
    const file = join(folder, `${id}.cu`)
    await writeFile(file, `${await readFile(file, 'utf8')}// like: 02_coalesced\n`)
  }
  return { machine, core, folder }
}

it('a folder is opened with its files and what is wrong, and remembered', async () => {
  const { core, folder } = await opened()
  const view = await core.call('folders.open', { folder })
  expect(view).toMatchObject({
    trusted: true,
    faults: [],
    ladder: { id: 'lab', title: 'Scaled vector' },
  })
  expect(view.files).toEqual([
    { path: 'ladder.yaml', kind: 'ladder', rung: null },
    { path: '01_first.cu', kind: 'rung', rung: '01_first' },
    { path: '02_coalesced.cu', kind: 'rung', rung: '02_coalesced' },
    { path: 'reference.cu', kind: 'reference', rung: null },
  ])
  await writeFile(join(folder, '01_first.cu'), '// @rung 01_first\n// @title\n')
  const faulty = await core.call('folders.open', { folder })
  expect(faulty.faults).toEqual([
    {
      file: '01_first.cu',
      line: 2,
      column: null,
      message: expect.stringMatching(/@title/) as string,
    },
  ])
  expect(faulty.ladder?.rungs.map(({ id }) => id)).toEqual(['02_coalesced'])
  const yaml = await core.call('folders.read', { folder, file: 'ladder.yaml' })
  const text = yaml.text.replace('N: 67108864\n', 'N: 0\n')
  await core.call('folders.save', { folder, file: 'ladder.yaml', text, hash: yaml.hash })
  expect(await core.call('folders.open', { folder })).toMatchObject({
    ladder: null,
    faults: [
      { file: 'ladder.yaml', line: 13, column: 5, message: expect.stringMatching(/sizes\.N/) },
    ],
  })
  expect(await core.call('folders.recent', {})).toMatchObject([
    { folder, exists: true, trusted: true },
  ])
  await core.call('folders.forget', { folder })
  expect(await core.call('folders.recent', {})).toEqual([])
})

it('a file is saved over what was read and nothing else, and only a file of the ladder is', async () => {
  const { core, folder } = await opened()
  const file = '01_first.cu'
  const { text, hash } = await core.call('folders.read', { folder, file })
  const saved = await core.call('folders.save', { folder, file, text: `${text}// mine\n`, hash })
  expect(saved.saved).toBe(true)
  expect(await core.call('folders.save', { folder, file, text: 'late', hash })).toMatchObject({
    saved: false,
    disk: { text: `${text}// mine\n` },
  })
  await core.call('folders.save', { folder, file: '03_new.cu', text: 'x', hash: null })
  expect((await core.call('folders.open', { folder })).files).toContainEqual({
    path: '03_new.cu',
    kind: 'rung',
    rung: null,
  })
  for (const other of ['../x.cu', '.hidden.cu', 'a/b.cu', 'notes.txt', '/etc/passwd'])
    await expect(
      core.call('folders.save', { folder, file: other, text: '', hash: null }),
    ).rejects.toThrow(/no name for a file/)
  await expect(core.call('folders.read', { folder, file: 'ladder.schema.json' })).rejects.toThrow()
  await expect(core.call('folders.open', { folder: join(folder, '..') })).rejects.toThrow(
    /no ladder\.yaml/,
  )
})

it('what the compiler says is at its line of the file, and code that is not trusted is not built', async () => {
  const { machine, core, folder } = await opened()
  const file = '02_coalesced.cu'
  const { text } = await core.call('folders.read', { folder, file })
  expect(await core.call('folders.build', { folder, file })).toMatchObject({
    built: true,
    architecture: 'sm_90',
  })
  const broken = `${text}undeclared;\n`
  const line = broken.split('\n').length - 1
  for (const [name, source] of [
    [file, broken],
    ['reference.cu', 'undeclared;'],
  ] as const)
    expect(await core.call('folders.build', { folder, file: name, text: source })).toMatchObject({
      built: false,
      diagnostics: [{ severity: 'error', file: name, line: name === file ? line : 1 }],
    })
  const header = text.replace('@rung    02_coalesced', '@rung    other')
  expect(await core.call('folders.build', { folder, file, text: header })).toMatchObject({
    built: false,
    diagnostics: [{ line: 1 }],
  })
  await writeFile(join(machine.dir, 'ladders', 'trusted.json'), '[]')
  await expect(core.call('folders.build', { folder, file })).rejects.toThrow(/not been allowed/)
  const { contentHash } = await core.call('folders.open', { folder })
  await expect(core.call('folders.trust', { folder, contentHash: '0'.repeat(64) })).rejects.toThrow(
    /changed meanwhile/,
  )
  await core.call('folders.trust', { folder, contentHash })
  expect((await core.call('folders.build', { folder, file })).built).toBe(true)
})

it('a watched folder is run at each save, and its rounds are told', async () => {
  const { core, folder } = await opened()
  const until = async (rounds: number) => {
    for (;;) {
      const now = await core.call('watch.current', {})
      if (now.state === 'waiting' && now.rounds.length === rounds) return now
      await new Promise((done) => setTimeout(done, 50))
    }
  }
  await core.call('watch.start', { folder, target: 'local' })
  await expect(
    (async () => core.call('watch.start', { folder, target: 'local' }))(),
  ).rejects.toThrow(/being watched/)
  expect((await until(1)).rounds[0]?.changes.map(({ rung }) => rung)).toEqual([
    '01_first',
    '02_coalesced',
  ])
  const file = '02_coalesced.cu'
  const { text, hash } = await core.call('folders.read', { folder, file })
  await core.call('folders.save', { folder, file, text: `${text}// faster\n`, hash })
  const { rounds } = await until(2)
  expect(rounds[1]).toMatchObject({
    session: expect.any(String),
    changes: [{ rung: '02_coalesced', before: 'ok', status: 'ok', time: { verdict: 'same' } }],
  })
  await core.call('watch.stop', {})
  await core.close()
  expect((await core.call('watch.current', {})).state).toBe('off')
})
