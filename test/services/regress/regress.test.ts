/**
 * Tests regression checks, which time old and new code alternately. The tools are fakes, and the
 * sources determine the times.
 */
import { spawnSync } from 'node:child_process'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { XMLValidator } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import type { RegressReport, RegressRung } from '../../../src-main/domain/regress/report'
import { regress, type RegressRequest } from '../../../src-main/services/regress/regress'
import { regressJunit, regressMarkdown } from '../../../src-main/services/regress/print'
import { fakeMachine, setEnv, type Machine } from '../support'

const rungs = ['01_naive', '02_coalesced', '03_shared_tile']

const start = (
  { setup }: Machine,
  request: Partial<Omit<RegressRequest, 'rungs'>> & { rungs?: string[] | undefined } = {},
  { trust = false, notes = [] as string[] } = {},
): Promise<RegressReport> => {
  const { rungs: only, ...rest } = { rungs, ...request }
  return regress(
    setup,
    {
      ladder: 'gemm-fp32',
      against: 'base',
      ...(only ? { rungs: only } : {}),
      size: 1024,
      params: {},
      thresholdPercent: 0.5,
      rounds: 6,
      secondsAPair: 0.05,
      cacheState: 'cold',
      calibrate: false,
      ...rest,
    },
    {
      signal: new AbortController().signal,
      onNote: (text) => notes.push(text),
      idleSeconds: 2,
      waitForGpu: true,
      trust,
    },
  )
}

/** Creates a machine with a baseline session of the ladder. The test then edits the ladder. */
async function withBaseline(): Promise<Machine> {
  const machine = await fakeMachine()
  await machine.run({ rungs, profile: 'none' }, { out: join(machine.store, 'base') })
  return machine
}

const slow = (machine: Machine, rung: string, factor: number): Promise<void> =>
  machine.editRung(rung, (text) => `${text}\n// slower: ${factor}\n`)

const row = (report: RegressReport, id: string): RegressRung =>
  report.rungs.find((rung) => rung.id === id)!

const verdictsOf = (report: RegressReport): Record<string, string> =>
  Object.fromEntries(report.rungs.map(({ id, verdict }) => [id, verdict]))

function git(folder: string, ...args: string[]): string {
  const { stdout, status, stderr } = spawnSync(
    'git',
    ['-c', 'user.name=a', '-c', 'user.email=a@b.invalid', '-c', 'commit.gpgsign=false', ...args],
    { cwd: folder, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  return stdout.trim()
}

describe('a regression check against a session', () => {
  it('reports unchanged code as the same even after a rebuild', async () => {
    const machine = await withBaseline()
    const report = await start(machine)
    expect(report).toMatchObject({
      exitCode: 0,
      headline: 'no rung got slower by more than 0.5 %',
      against: { kind: 'session', name: 'base' },
      thresholdPercent: 0.5,
    })
    expect(new Set(Object.values(verdictsOf(report)))).toEqual(new Set(['same']))
    expect(report.rungs.every(({ sameBuild, rounds }) => sameBuild && rounds === 6)).toBe(true)
    expect(row(report, '01_naive').cycles!.ratio).toBeCloseTo(1, 2)
    // Each round is a separate process, with the builds at different addresses and the rungs in a
    // different order.
    const compared = machine.calls('runner').filter(([, command]) => command === 'compare')
    const after = (call: readonly string[], option: string): string[] =>
      call.filter((_, at) => call[at - 1] === option)
    expect(compared.flatMap((call) => after(call, '--round'))).toEqual([...'012345'])
    const firstPairs = compared.map((call) => after(call, '--pair')[0]!.split('=')[0])
    expect(new Set(firstPairs)).toEqual(new Set(rungs))
    // The old build and its copy are separate files, so the dynamic linker loads both in addition
    // to the new build.
    const libraries = compared.at(-1)!.filter((word) => word.includes('.so'))
    expect(new Set(libraries.map((word) => word.split('=')[1])).size).toBe(3 * rungs.length)
  })

  it('attributes no time difference to the code if the machine code is identical', async () => {
    const machine = await withBaseline()
    setEnv({ FAKE_NEW_SLOWER: '1.03' })
    const report = await start(machine)
    expect(row(report, '01_naive')).toMatchObject({
      verdict: 'unresolved',
      byTimes: 'slower',
      sameBuild: true,
      reason: expect.stringContaining('same machine code') as string,
    })
    expect(report.exitCode).toBe(2)
    await slow(machine, '01_naive', 1)
    expect(row(await start(machine), '01_naive')).toMatchObject({
      verdict: 'slower',
      byTimes: 'slower',
      sameBuild: false,
    })
  })

  it("finds a Python rung's script next to each of the rung's builds", async () => {
    const machine = await fakeMachine()
    const [rung, ladder] = ['gemm/90_python.py', 'gemm/ladders/gemm-fp32.json'].map((file) =>
      join(machine.kernelsDir, file),
    )
    const script =
      '# @rung 90_python\n# @title T\n# @idea a test\n# @dtype f32\n# like: 02_coalesced\n'
    await writeFile(rung!, script)
    const own = JSON.parse(await readFile(ladder!, 'utf8')) as { rungs: object[] }
    await writeFile(ladder!, JSON.stringify({ ...own, rungs: [...own.rungs, { id: '90_python' }] }))
    const only = { rungs: ['90_python'] }
    await machine.run({ ...only, profile: 'none' }, { out: join(machine.store, 'base') })
    expect(row(await start(machine, only), '90_python')).toMatchObject({
      ...{ verdict: 'same', reason: null, rounds: 6 },
    })
    await writeFile(rung!, `${script}# slower: 1.1\n`)
    expect(row(await start(machine, only), '90_python').verdict).toBe('slower')
  })

  it('finds faster and slower rungs, and measures slower rungs twice', async () => {
    const machine = await withBaseline()
    await slow(machine, '02_coalesced', 1.02)
    await slow(machine, '03_shared_tile', 0.9)
    const notes: string[] = []
    const report = await start(machine, {}, { notes })
    expect(verdictsOf(report)).toEqual({
      '01_naive': 'same',
      '02_coalesced': 'slower',
      '03_shared_tile': 'faster',
    })
    expect(report).toMatchObject({
      exitCode: 1,
      headline: '1 of 3 rungs got slower by more than 0.5 %',
    })
    expect(row(report, '02_coalesced').ratio).toBeCloseTo(1.02, 3)
    expect(row(report, '02_coalesced').first!.ratio).toBeCloseTo(1.02, 3)
    expect(row(report, '03_shared_tile').first).toBeNull()
    expect(notes).toContain('Measuring 02_coalesced again…')
  })

  it('ignores changes within the stored time variation of identical code', async () => {
    const machine = await withBaseline()
    await slow(machine, '02_coalesced', 1.02)
    await start(machine)
    const file = join(machine.setup.machine.folders.cache, 'same-code.json')
    const kept = JSON.parse(await readFile(file, 'utf8')) as Record<string, { percent: number }>
    expect(Object.keys(kept)).toEqual([expect.stringContaining('NVIDIA H200, driver ')])
    for (const one of Object.values(kept)) one.percent = 3
    await writeFile(file, JSON.stringify(kept))
    const report = await start(machine)
    expect(report).toMatchObject({ thresholdPercent: 3, askedPercent: 0.5, exitCode: 0 })
    expect(row(report, '02_coalesced').verdict).toBe('same')
    expect((await start(machine, { calibrate: true })).thresholdPercent).toBe(0.5)
  })

  it('fails a broken rung but still times the other rungs', async () => {
    const machine = await withBaseline()
    await machine.addFault('01_naive', 'wrong')
    await machine.addFault('03_shared_tile', 'compile-error')
    const report = await start(machine)
    expect(verdictsOf(report)).toEqual({
      '01_naive': 'broken',
      '02_coalesced': 'same',
      '03_shared_tile': 'broken',
    })
    expect(report).toMatchObject({ exitCode: 1, headline: '2 of 3 rungs broke' })
    expect(row(report, '01_naive')).toMatchObject({ ratio: null, rounds: 0 })
  })

  it('gives no verdict on a rung that crashes during timing', async () => {
    const machine = await withBaseline()
    await machine.addFault('02_coalesced', 'compare-crash')
    const report = await start(machine)
    expect(row(report, '02_coalesced')).toMatchObject({
      verdict: 'unresolved',
      ratio: null,
      reason: 'it crashed by SIGSEGV',
    })
    expect(row(report, '03_shared_tile')).toMatchObject({ verdict: 'same', rounds: 6 })
    expect(report.headline).toBe(
      'no rung got slower by more than 0.5 %; 1 of 3 could not be decided',
    )
  })

  it('lists added and removed rungs', async () => {
    const machine = await withBaseline()
    await slow(machine, '01_naive', 1)
    const report = await start(machine, { rungs: ['01_naive', '06_float4'] })
    expect(verdictsOf(report)).toEqual({ '01_naive': 'same', '06_float4': 'new' })
    expect(row(report, '01_naive').sameBuild).toBe(false)
    const file = join(machine.kernelsDir, 'gemm', 'ladders', 'gemm-fp32.json')
    const ladder = JSON.parse(await readFile(file, 'utf8')) as { rungs: { id: string }[] }
    const kept = ladder.rungs.filter(({ id }) => ['00_cublas', '02_coalesced'].includes(id))
    await writeFile(file, JSON.stringify({ ...ladder, rungs: kept }))
    const shorter = await start(machine, { rungs: undefined })
    expect(verdictsOf(shorter)).toEqual({
      '00_cublas': 'new',
      '01_naive': 'gone',
      '02_coalesced': 'same',
      '03_shared_tile': 'gone',
    })
  })

  it.each([
    [{ size: 512 }, /base is of 1024³ f32, .*this would measure 512³ f32/],
    [{ ladder: 'gemm-3xtf32' }, /session of the ladder gemm-fp32, not of gemm-3xtf32/],
    [{ rungs: ['06_float4'] }, /base has none of these rungs: 06_float4/],
  ])('rejects %j', async (request, sentence) => {
    const machine = await withBaseline()
    const rest = 'ladder' in request ? { rungs: ['60_tf32x3'] } : {}
    await expect(start(machine, { ...rest, ...request })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringMatching(sentence) as string,
    })
  })

  it('rejects a session that has missing sources or is from a newer version', async () => {
    const machine = await withBaseline()
    const folder = join(machine.store, 'base')
    await cp(folder, join(machine.store, 'newer'), { recursive: true })
    const file = join(machine.store, 'newer', 'session.json')
    const session = JSON.parse(await readFile(file, 'utf8')) as object
    await writeFile(file, JSON.stringify({ ...session, schema: 99 }))
    await expect(start(machine, { against: 'newer' })).rejects.toMatchObject({ kind: 'input' })
    await rm(join(folder, 'sources'), { recursive: true })
    await expect(start(machine)).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('sources') as string,
    })
  })

  it('builds third-party code only if the user allows it', async () => {
    const machine = await withBaseline()
    const elsewhere = join(machine.dir, 'elsewhere')
    await cp(join(machine.store, 'base'), elsewhere, { recursive: true })
    await expect(start(machine, { against: elsewhere })).rejects.toMatchObject({
      kind: 'input',
      remedy: expect.stringContaining('--trust') as string,
    })
    expect((await start(machine, { against: elsewhere }, { trust: true })).exitCode).toBe(0)
  })

  it('accepts a recording as the session', async () => {
    const machine = await fakeMachine()
    const report = await start(machine, { against: 'recorded:gemm-fp32-h200-1024' })
    expect(report.rungs).toHaveLength(3)
    expect(report.exitCode).toBe(0)
  })
})

describe('a regression check against a git revision', () => {
  /** Kernel folders to copy into the repository. */
  const kept = ['gemm', 'include', 'runner']

  /**
   * Creates a repository that contains the kernels. The first commit has the built-in kernels. The
   * second commit makes 02_coalesced slower.
   */
  async function repository(): Promise<Machine> {
    const machine = await fakeMachine()
    const folder = machine.kernelsDir
    for (const name of await readdir(folder))
      if (!kept.includes(name)) await rm(join(folder, name), { recursive: true })
    git(folder, 'init', '-q', '-b', 'main')
    git(folder, 'add', '-A')
    git(folder, 'commit', '-qm', 'first')
    await slow(machine, '02_coalesced', 1.03)
    return machine
  }

  it('finds slowdowns in the working tree without changing the tree or the index', async () => {
    const machine = await repository()
    const before = git(machine.kernelsDir, 'status', '--porcelain')
    const report = await start(machine, { against: 'HEAD' })
    expect(report.against).toEqual({
      kind: 'revision',
      name: 'HEAD',
      commit: git(machine.kernelsDir, 'rev-parse', 'HEAD'),
    })
    expect(verdictsOf(report)).toEqual({
      '01_naive': 'same',
      '02_coalesced': 'slower',
      '03_shared_tile': 'same',
    })
    expect(git(machine.kernelsDir, 'status', '--porcelain')).toBe(before)
    expect(before).toContain('02_coalesced.cu')
    // Against a commit with the same kernels, the check finds no change.
    git(machine.kernelsDir, 'commit', '-qam', 'second')
    expect((await start(machine, { against: 'HEAD' })).exitCode).toBe(0)
  })

  it('rejects a revision that does not build, is unknown, or has no repository', async () => {
    const machine = await repository()
    await machine.addFault('03_shared_tile', 'compile-error')
    git(machine.kernelsDir, 'commit', '-qam', 'broken')
    await expect(start(machine, { against: 'HEAD' })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringMatching(/^HEAD does not build: 03_shared_tile: /) as string,
    })
    expect((await start(machine, { against: 'HEAD~1' })).exitCode).toBe(1)
    for (const against of ['nowhere', '--help', 'HEAD:gemm'])
      await expect(start(machine, { against })).rejects.toMatchObject({
        kind: 'input',
        message: expect.stringContaining('neither a session nor a revision') as string,
      })
    const other = await fakeMachine()
    expect(other.kernelsDir).not.toBe('')
    setEnv({ GIT_CEILING_DIRECTORIES: other.dir })
    await expect(start(other, { against: 'HEAD' })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('not in a git repository') as string,
    })
  })

  it('rejects a task whose buffers have changed', async () => {
    const machine = await repository()
    const file = join(machine.kernelsDir, 'gemm', 'task.yaml')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('lo: -1', 'lo: -2'))
    expect(await readFile(file, 'utf8')).not.toBe(text)
    await expect(start(machine, { against: 'HEAD' })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('had different buffers in HEAD') as string,
    })
  })
})

describe('the printed report', () => {
  it('lists the worst rungs first, with markup and invalid characters escaped', async () => {
    const machine = await withBaseline()
    await slow(machine, '03_shared_tile', 1.05)
    await machine.addFault('01_naive', 'wrong')
    const report = await start(machine)
    const markdown = regressMarkdown(report)
    expect(markdown.indexOf('03\\_shared') < 0).toBe(true)
    const places = ['`03_shared_tile`', '`01_naive`', '`02_coalesced`'].map((id) =>
      markdown.indexOf(id),
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(markdown).toMatch(/^## Kernel Ladder: 1 of 3 rungs got slower by more than 0\.5 %, /)
    const junit = regressJunit({
      ...report,
      rungs: report.rungs.map((rung) => ({ ...rung, reason: rung.reason && '<&"]]>\u0007\uffff' })),
    })
    expect(junit).toContain('tests="3" failures="2" skipped="0"')
    expect(junit).toContain('&lt;&amp;&quot;]]&gt;')
    expect(junit).not.toMatch(/[\u0007\uffff]/)
    expect(XMLValidator.validate(junit)).toBe(true)
  })
})
