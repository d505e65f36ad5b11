/**
 * Tests that measurements survive simultaneous programs, a full disk, a kill, and a closed output
 * pipe.
 */
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shortLived } from '../../scripts/lib/project.mjs'
import { said } from '../support'
import { openRaw } from '../../src-main/adapters/tools/raw-files'
import { readSources } from '../../src-main/adapters/sessions/session-sources'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { isAlive, ladderRungs, tempDir } from '../services/support'
import { applies, closeBench, faults, openBench, stages, tryCell } from '../faults/faults'
import { bundle, fakeTools, run, runBundle, start, type Finished, type Running } from './support'

const ladder = ['run', '--ladder', 'gemm-fp32', '--size', '1024']
const rungs = ['01_naive', '02_coalesced']
const short = [...ladder, '--rungs', rungs.join(','), '--profile', 'none']
/** Returns the folder of a saved run, as found in the run's output. */
const savedIn = ({ stderr }: Finished): string => /^Saved in (.+)$/m.exec(stderr)?.[1] ?? ''

async function expectWhole(folder: string, ids: readonly string[] = rungs): Promise<void> {
  const session = await readSession(folder)
  expect(session.rungs.map(({ id }) => id)).toEqual(ids)
  expect(Object.keys((await readSources(folder, session)).texts).sort()).toEqual([...ids].sort())
}

const hidden = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('.'))

/** Creates fake tools with their own store, cache, and temporary folder. */
async function machine() {
  const dir = await tempDir()
  const env = { ...fakeTools(dir), TMPDIR: join(dir, 'tmp') }
  await mkdir(env.TMPDIR)
  return { dir, store: join(dir, 'sessions'), env }
}
type Machine = Awaited<ReturnType<typeof machine>>

/**
 * Starts a run that hangs in the second rung until it is interrupted, so that a test can run other
 * programs at the same time.
 */
const startHanging = ({ dir, env }: Machine, ...more: string[]): Running =>
  start([...short, '--timeout', '600', ...more], {
    ...env,
    FAKE_FAULTS: '02_coalesced=hang',
    // The build contains the injected fault, so other programs must not share the cache.
    KERNEL_LADDER_CACHE: join(dir, 'cache-hanging'),
  })

describe('simultaneous programs', () => {
  it('save their complete sessions under different names', async () => {
    const { store, env } = await machine()
    await run(short, env)
    const ended = await Promise.all([1, 2].map(() => runBundle(short, env)))
    expect(ended.map(({ code }) => code)).toEqual([0, 0])
    expect(new Set(ended.map(savedIn)).size).toBe(2)
    for (const one of ended) await expectWhole(savedIn(one))
    expect(await readdir(store)).toHaveLength(3)
  })

  it('with the same --out save the later session in a neighboring folder, and print its path', async () => {
    const shared = await machine()
    const { dir, env } = shared
    const out = join(dir, 'out', 'mine')
    const later = startHanging(shared, '--out', out)
    await later.says('Verifying')
    const first = await run([...short, '--out', out], env)
    expect([first.code, savedIn(first)]).toEqual([0, out])
    later.signal('SIGINT')
    const ended = await later.finished
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain(`${out} was created by another program in the meantime.`)
    expect(ended.stderr).toContain(`saved in ${out}-2`)
    await run([...short, '--out', join(dir, 'out', 'third')], env)
    for (const folder of [out, `${out}-2`]) await expectWhole(folder)
    expect((await readSession(`${out}-2`)).completion).toBe('cancelled')
  })
})

/** Options that create a pid namespace, as a container does. They require permission. */
const unshare = ['--pid', '--fork', '--mount-proc']
const mayUnshare = spawnSync('unshare', [...unshare, 'true']).status === 0

/*
 * Without permission for namespaces, test/adapters/disk/disk.test.ts covers containers with an
 * owner file from a simulated namespace.
 */
describe.skipIf(!mayUnshare)('a program in a container that shares the store', () => {
  const contained = (args: readonly string[], env: Record<string, string>): number | null =>
    spawnSync('unshare', [...unshare, process.execPath, ...shortLived, bundle, ...args], {
      env: { ...process.env, KERNEL_LADDER_PATH_ONLY: '1', ...env },
    }).status

  it('does not touch the folder of a run outside the container', async () => {
    const shared = await machine()
    const { store, env } = shared
    const running = startHanging(shared)
    await running.says('Verifying')
    expect(contained(short, env)).toBe(0)
    expect(await hidden(store)).toHaveLength(1)
    running.signal('SIGINT')
    const ended = await running.finished
    await expectWhole(savedIn(ended))
    const { keys } = await openRaw(savedIn(ended))
    expect(keys).toContain('nvcc/version')
    expect(keys.some((key) => key.startsWith('runner/'))).toBe(true)
    expect(await readdir(store)).toHaveLength(2)
  })
})

it('a run whose folder is deleted saves its measurements and sources, and reports what is missing', async () => {
  const own = await machine()
  const { store } = own
  const running = startHanging(own)
  await running.says('Verifying')
  const [staged] = await hidden(store)
  await rm(join(store, staged!), { recursive: true })
  running.signal('SIGINT')
  const ended = await running.finished
  const folder = savedIn(ended)
  await expectWhole(folder)
  const { warnings } = await readSession(folder)
  expect(said(warnings).join(' ')).toMatch(/Raw output is missing.*nvcc\/.*deleted during the run/)
})

it('a run removes the leftovers of a killed run next to its --out folder', async () => {
  const own = await machine()
  const { dir, env } = own
  const place = join(dir, 'results')
  const killed = startHanging(own, '--out', join(place, 'a'))
  await killed.says('Verifying')
  killed.signal('SIGKILL')
  await killed.finished
  await expect.poll(() => isAlive(killed.pid)).toBe(false)
  expect(await hidden(place)).toHaveLength(1)
  expect((await run([...short, '--out', join(place, 'b')], env)).code).toBe(0)
  expect(await readdir(place)).toEqual(['b'])
})

/** Mounts a disk of `size` KiB at `folder`. Returns false if the user may not mount disks. */
const mount = (folder: string, size: number): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}k`, 'tmpfs', folder]).status === 0
const unmount = (folder: string): void => {
  spawnSync('umount', ['-l', folder])
}

const mayMount = await (async () => {
  const folder = await tempDir()
  const may = mount(folder, 64)
  if (may) unmount(folder)
  return may
})()

// Without permission to mount, test/services/run/saving.test.ts simulates disk errors in other
// ways.
describe.skipIf(!mayMount)('a disk that fills up during a run', () => {
  const small = async (
    size: number,
    work: (disk: string, machine: Machine) => Promise<void>,
  ): Promise<void> => {
    const warm = await machine()
    const disk = join(warm.dir, 'disk')
    await mkdir(disk)
    expect(mount(disk, size)).toBe(true)
    try {
      await work(disk, warm)
    } finally {
      unmount(disk)
    }
  }

  it.each([
    [280, 'costs raw output and no measurement', /Raw output is missing.*The disk was full\./],
    [460, 'costs nothing: raw output goes along to the store', /^$/],
  ])('of %i KiB %s', { tags: ['thorough'] }, async (size, _what, warnings) => {
    await small(size, async (disk, { env, store }) => {
      const ended = await run([...ladder, '--out', join(disk, 'x')], env)
      expect(ended.code).toBe(1)
      expect(ended.stderr).toMatch(/the disk is full/)
      expect(ended.stderr).not.toMatch(/internal error/)
      const folder = savedIn(ended)
      expect(ended.stderr).toContain(`The session is saved in ${folder}.`)
      expect(folder.startsWith(store)).toBe(true)
      await expectWhole(folder, ladderRungs)
      const session = await readSession(folder)
      expect(session.rungs.every(({ timing }) => timing !== null)).toBe(true)
      expect(said(session.warnings).join(' ')).toMatch(warnings)
      expect(await readdir(disk)).toEqual([])
    })
  })

  it('that also holds the session store leaves the session in the temporary folder', async () => {
    await small(300, async (disk, { env }) => {
      const ended = await run(ladder, { ...env, KERNEL_LADDER_DATA: disk })
      expect(ended.code).toBe(1)
      const folder = savedIn(ended)
      expect(folder.startsWith(join(env.TMPDIR, 'kernel-ladder-gemm-fp32-1024-'))).toBe(true)
      await expectWhole(folder, ladderRungs)
      expect(await readdir(join(disk, 'sessions'))).toEqual([])
    })
  })

  it('is reported before anything runs if even the first files do not fit', async () => {
    await small(40, async (disk, { env }) => {
      const ended = await run([...ladder, '--out', join(disk, 'x')], env)
      expect([ended.code, savedIn(ended)]).toEqual([1, ''])
      expect(ended.stderr).toMatch(/^error: Could not write .*: the disk is full\.$/m)
      expect(await readdir(disk)).toEqual([])
    })
  })
})

describe('a reader that disconnects', () => {
  /**
   * Closes the streams after the first output, like `| head -1`. Returns the program's exit code.
   */
  const readBriefly = (
    args: readonly string[],
    env: Record<string, string>,
  ): Promise<number | null> =>
    new Promise((done) => {
      const child = spawn(process.execPath, [...shortLived, bundle, ...args], {
        env: { ...process.env, KERNEL_LADDER_PATH_ONLY: '1', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child.stderr.once('data', () => {
        child.stderr.destroy()
        child.stdout.destroy()
      })
      child.on('exit', done)
    })

  it('does not stop the run from saving its session and reporting a failed rung', async () => {
    const { store, env } = await machine()
    expect(await readBriefly(short, { ...env, FAKE_FAULTS: '02_coalesced=wrong' })).toBe(1)
    const [name, ...others] = await readdir(store)
    expect(others).toEqual([])
    await expectWhole(join(store, name!))
  })

  it.skipIf(!existsSync('/dev/full'))(
    'is distinguished from a full disk to which stdout is redirected',
    async () => {
      const { store, env } = await machine()
      const full = openSync('/dev/full', 'w')
      const { status, stderr } = spawnSync(process.execPath, [...shortLived, bundle, ...short], {
        env: { ...process.env, KERNEL_LADDER_PATH_ONLY: '1', ...env },
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      })
      closeSync(full)
      expect(status).toBe(1)
      expect(stderr).toContain('error: Could not write to stdout: the disk is full.\n')
      expect(stderr).not.toMatch(/^\s+at /m)
      expect(stderr).toContain(`Saved in ${join(store, '')}`)
      await expectWhole(join(store, basename((await readdir(store))[0]!)))
    },
  )
})

// Tests a few cells of the fault matrix. `npm run faults` tests all cells, and
// docs/evidence/reliability.md has the results.
describe('a command with an injected fault', { tags: ['thorough'] }, () => {
  let bench: Awaited<ReturnType<typeof openBench>>
  beforeAll(async () => {
    bench = await openBench()
  })
  afterAll(() => closeBench(bench))

  it.each([
    ['measure', 'SIGTERM'],
    ['build', 'SIGKILL'],
    ['import', 'out of descriptors'],
  ])('(%s, %s) loses no results and leaves no files or processes', async (stageName, faultName) => {
    const stage = stages.find(({ name }) => name === stageName)!
    const fault = faults.find(({ name }) => name === faultName)!
    expect(applies(stage, fault)).toBe(true)
    expect(await tryCell(bench, stage, fault)).toEqual([])
  })
})
