/** Tests `kernel-ladder lab` with fake tools that imitate submissions, and with recordings. */
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Papa from 'papaparse'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { faultOfRow, kinds, leftProcesses, writeSubmissions } from '../gpu/submissions.mjs'
import { faultsOf } from '../json-schemas'
import { tempDir } from '../services/support'
import { labText } from '../services/labs/support'
import { bundle, fakeTools, run, runBundle, start } from './support'
import type { LabOutcome } from '../../src-main/domain/labs/outcome'
import { said } from '../support'
import { keepAllAnswers } from '../fakes/in-process'
import { putFakes } from '../fakes/program.mjs'
import type { GradeRow } from '../../src-main/domain/labs/grade-row'

describe('labs with fake tools', () => {
  /**
   * Options for the fake tools, which replay files from the checkout. With the fake tools' options,
   * tests also pass on machines without namespaces.
   */
  const overFakes: string[] = []
  let recordings: string
  beforeAll(async () => {
    await keepAllAnswers()
    recordings = await mkdtemp(join(tmpdir(), 'kl-recordings-'))
    await chmod(recordings, 0o755)
    const root = join(import.meta.dirname, '../..')
    const name = 'gemm-fp32-h200-1024.jsonl.br'
    await copyFile(join(root, 'resources/recordings/raw', name), join(recordings, name))
    const readable = [root, process.env['FAKE_ANSWERS']!, recordings]
    overFakes.push(...readable.flatMap((path) => ['--readable', path]), '--unisolated')
  })
  afterAll(() => rm(recordings, { recursive: true, force: true }))

  const kernels = join(import.meta.dirname, '../../cuda-kernels/gemm')

  let buses = 0
  const nextBus = (): string => `00C0FFEE:${String((buses += 1)).padStart(2, '0')}`

  /** Creates a trusted lab and fake tools. */
  async function labMachine(): Promise<{
    dir: string
    lab: string
    solution: string
    starter: string
    env: Record<string, string>
  }> {
    const dir = await tempDir()
    // Submissions run as another user and need access to the fake tools in this folder.
    await chmod(dir, 0o755)
    const lab = join(dir, 'elsewhere', 'coalesce')
    await mkdir(lab, { recursive: true })
    const solution = `${await readFile(join(kernels, '02_coalesced.cu'), 'utf8')}// like: 02_coalesced\n`
    const starter = `${await readFile(join(kernels, '01_naive.cu'), 'utf8')}// like: 01_naive\n`
    await writeFile(join(lab, 'lab.md'), labText)
    await writeFile(join(lab, 'starter.cu'), starter)
    await writeFile(join(lab, 'solution.cu'), solution)
    // Each submission has its own cache, but all submissions use the same GPU.
    const env = {
      ...fakeTools(dir),
      FAKE_LOG: '',
      FAKE_BUS: nextBus(),
      FAKE_RECORDINGS: recordings,
    }
    expect((await run(['lab', 'trust', lab, '--yes'], env)).code).toBe(0)
    return { dir, lab, solution, starter, env }
  }

  describe('lab check', () => {
    it('exits with 0, 1, 2, or 3, and prints one JSON document with --json', async () => {
      const { dir, lab, solution, starter, env } = await labMachine()
      const file = join(dir, 'mine.cu')
      await writeFile(file, solution)
      const passed = await run(['lab', 'check', lab, '--file', file, '--json'], env)
      expect(passed.code, passed.stderr).toBe(0)
      expect(JSON.parse(passed.stdout)).toMatchObject({ status: 'passed', lab: 'coalesce' })

      await writeFile(file, starter)
      const slow = await run(['lab', 'check', lab, '--file', file], env)
      expect(slow.code, slow.stderr).toBe(1)
      const missing = await run(['lab', 'check', lab, '--file', join(dir, 'none.cu')], env)
      expect(missing).toMatchObject({ code: 2, stdout: '' })
      expect(missing.stderr).toMatch(/There is no file .*none\.cu/)
      await writeFile(file, 'x'.repeat(50 * 1024 * 1024))
      expect((await run(['lab', 'check', lab, '--file', file], env)).stderr).toMatch(
        /52428800 bytes/,
      )
      await writeFile(file, solution)
      const nowhere = await run(['lab', 'check', lab, '--file', file], {
        ...env,
        PATH: '/usr/bin:/bin',
      })
      expect(nowhere.code).toBe(3)
      expect(nowhere.stdout + nowhere.stderr).toMatch(/nvcc was not found/)
    })

    it('shows a third-party lab in full, and asks before using the lab', async () => {
      const { dir, lab, solution, env } = await labMachine()
      const file = join(dir, 'mine.cu')
      await writeFile(file, solution)
      await writeFile(join(lab, 'solution.cu'), `${solution}// changed\u001b[2J\n`)
      const refused = await run(['lab', 'check', lab, '--file', file], env)
      expect(refused.code).toBe(2)
      expect(refused.stderr).toMatch(/is not built in/)
      const shown = await run(['lab', 'trust', lab], env)
      expect(shown.code).toBe(2)
      expect(shown.stdout).toContain('// changed')
      expect(shown.stdout).not.toContain('\u001b')
      expect((await run(['lab', 'check', lab, '--file', file], env)).code).toBe(2)
    })
  })

  describe('lab grade', () => {
    it(
      'grades submissions of every kind correctly and independently',
      { tags: ['thorough'] },
      async () => {
        const { dir, lab, solution, starter, env } = await labMachine()
        const folder = join(dir, 'handed-in')
        const victims = [join(dir, 'victim.txt'), join(folder, 'notes.txt')]
        const students = writeSubmissions(folder, { starter, solution }, victims, 1)
        for (const path of victims) await writeFile(path, 'untouched\n')
        expect(students).toHaveLength(Object.keys(kinds).length)

        const graded = await runBundle(
          [
            ...['lab', 'grade', folder, '--lab', lab, '--csv', '--jobs', '4'],
            // The silence limit is a quarter of the timeout. Even on a busy machine, a program must
            // start within the silence limit.
            ...['--timeout', '80', '--memory', '1', ...overFakes],
          ],
          env,
        )
        expect(graded.code, graded.stderr).toBe(0)
        expect(graded.stderr).toContain(`${students.length} graded in `)
        expect(graded.stderr).toMatch(
          /Each submission runs in its own namespaces|Neither unshare nor bubblewrap/,
        )
        const { data: rows } = Papa.parse<Record<string, string>>(graded.stdout, {
          header: true,
          skipEmptyLines: true,
        })
        expect(rows.map(({ student }) => student).sort()).toEqual(students.toSorted())
        for (const row of rows) expect(faultOfRow(row), row['student']).toBeNull()
        if (/can write only to its folder/.test(graded.stderr))
          for (const path of victims) expect(await readFile(path, 'utf8')).toBe('untouched\n')
        // No process is left running.
        expect(leftProcesses(dir)).toEqual([])
        expect(graded.stderr).not.toMatch(/could not be removed/)
      },
    )

    it('rejects a machine that cannot isolate submissions, unless an option allows it', async () => {
      const { dir, lab, solution, env } = await labMachine()
      const folder = join(dir, 'handed-in')
      await mkdir(folder)
      await writeFile(join(folder, 'one.cu'), solution)
      // Without setpriv, the sandbox does not drop capabilities.
      const bin = join(dir, 'bin')
      const fakes = putFakes(join(dir, 'fakes'))
      await mkdir(bin)
      for (const tool of ['sh', 'env', 'mount', 'cat', 'ls', 'prlimit'])
        await symlink(join('/usr/bin', tool), join(bin, tool))
      const poor = {
        ...env,
        PATH: [fakes, dirname(process.execPath), bin].join(':'),
      }
      if (existsSync(join(dirname(process.execPath), 'unshare'))) {
        await symlink(process.execPath, join(bin, 'node'))
        poor.PATH = [fakes, bin].join(':')
      }
      const words = ['lab', 'grade', folder, '--lab', lab, '--json']
      const refused = await runBundle(words, poor)
      expect(refused.code, refused.stderr).toBe(3)
      expect(JSON.parse(refused.stdout)).toMatchObject({ error: { kind: 'missing' } })
      expect(refused.stderr).toMatch(/submissions run with your permissions/)
      expect(refused.stderr).toMatch(/pass --unisolated/)
      // With `--unisolated`, grading proceeds without isolation. The test uses recorded outcomes,
      // which need no tools.
      const shipped = '02-shared-tile'
      const solutionOf = join(kernels, '../labs', shipped, 'solution.cu')
      await copyFile(solutionOf, join(folder, 'one.cu'))
      const told = await runBundle(
        [
          ...['lab', 'grade', folder, '--lab', shipped, '--target', 'recorded'],
          '--unisolated',
          '--json',
        ],
        poor,
      )
      expect(told.code, told.stderr).toBe(0)
      expect(JSON.parse(told.stdout)).toMatchObject({
        isolation: expect.stringContaining('submissions run with your permissions') as unknown,
        rows: [{ student: 'one', status: 'passed' }],
      })
      const unreadable = await run([...words, '--readable', join(dir, 'none')], poor)
      expect(unreadable.stderr).toMatch(/none does not exist/)
    })

    it('resumes an interrupted grading and keeps its finished rows', async () => {
      const { dir, lab, solution, starter, env } = await labMachine()
      const folder = join(dir, 'handed-in')
      await mkdir(folder)
      await writeFile(join(folder, 'a.cu'), solution)
      await writeFile(join(folder, 'b.cu'), `${solution}// fault: hang\n`)
      const words = ['lab', 'grade', folder, '--lab', lab, '--json', '--jobs', '1', ...overFakes]
      const killed = start([...words, '--timeout', '400'], env)
      await killed.says('1/2 a')
      killed.signal('SIGKILL')
      await killed.finished
      const left = async (): Promise<string[]> =>
        (await readdir(tmpdir())).filter((name) => name.includes(`partial-${killed.pid}-`))
      expect(await left()).not.toEqual([])

      await writeFile(join(folder, 'b.cu'), starter)
      const resumed = await runBundle([...words, '--timeout', '400'], env)
      expect(await left()).toEqual([])
      expect(resumed.code, resumed.stderr).toBe(0)
      expect(resumed.stderr).toContain('1 row of earlier gradings of these submissions is reused')
      expect(resumed.stderr).not.toMatch(/\/2 a:/)
      const { rows } = JSON.parse(resumed.stdout) as { rows: GradeRow[] }
      expect(rows.map(({ student, status }) => [student, status])).toEqual([
        ['a', 'passed'],
        ['b', 'failed'],
      ])
      // The grading finished, so the next grading starts from the beginning.
      expect(await readdir(join(dir, 'cache', 'grades'))).toEqual([])
    })

    it('exits with 3 if even the solution cannot be judged', async () => {
      const { dir, lab, solution, env } = await labMachine()
      const folder = join(dir, 'handed-in')
      await mkdir(folder)
      await writeFile(join(folder, 'a.cu'), solution)
      const words = ['lab', 'grade', folder, '--lab', lab, '--json', ...overFakes]
      const graded = await runBundle(words, { ...env, FAKE_RUNNER: 'no-device' })
      expect(graded.code, graded.stderr).toBe(3)
      expect(graded.stderr).toContain('Nothing could be graded')
      expect(JSON.parse(graded.stdout)).toMatchObject({ rows: [{ status: 'unavailable' }] })
    })

    it('writes a spreadsheet-safe table, rejects files that are not source code, and flags similarity', async () => {
      const { dir, lab, solution, env } = await labMachine()
      const folder = join(dir, 'handed-in')
      await mkdir(folder)
      const body = `
__global__ void mine(int n, const float* a, float* out) {
  __shared__ float tile[32][33];
  for (int step = 0; step < n; step += 32) {
    tile[threadIdx.y][threadIdx.x] = a[step * n + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += tile[i][threadIdx.x] * tile[threadIdx.y][i];
    out[step + threadIdx.x] = sum * 2.0f + out[step];
    __syncthreads();
  }
}
`
      await writeFile(join(folder, '=1+2.cu'), solution)
      await writeFile(join(folder, 'copied.cu'), `${solution}${body}`)
      await writeFile(
        join(folder, 'copier.cu'),
        `${solution}// my own work\n${body.replaceAll('tile', 'buffer').replaceAll('sum', 'total')}`,
      )
      await symlink('/etc/passwd', join(folder, 'linked.cu'))
      await writeFile(join(folder, 'binary.cu'), Buffer.from([0x7f, 0x45, 0, 1]))
      const out = join(dir, 'grades.csv')
      const words = ['lab', 'grade', folder, '--lab', lab, '--jobs', '2', ...overFakes]
      const graded = await runBundle([...words, '--out', out], env)
      expect(graded.code, graded.stderr).toBe(0)
      // The command reports the error before it starts to grade.
      for (const [file, why] of [
        [out, /grades\.csv already exists/],
        [join(dir, 'none', 'a.csv'), /none\/a\.csv/],
      ] as const) {
        const refused = await run([...words, '--out', file], env)
        expect(refused.code).not.toBe(0)
        expect(refused.stderr).toMatch(why)
        expect(refused.stderr).not.toMatch(/submissions/)
      }
      const both = await run([...words, '--out', join(dir, 'b.csv'), '--json'], env)
      expect(both.stderr).toMatch(/--out cannot be combined with --json/)
      const { data: rows } = Papa.parse<Record<string, string>>(await readFile(out, 'utf8'), {
        header: true,
        skipEmptyLines: true,
      })
      const row = (student: string) => rows.find((candidate) => candidate['student'] === student)
      expect(row("'=1+2")).toMatchObject({ status: 'passed', similar_to: '' })
      expect(row('copied')?.['similar_to']).toMatch(/^copier \(\d+ %\)$/)
      expect(row('copier')?.['similar_to']).toMatch(/^copied/)
      expect(row('linked')).toMatchObject({ status: 'refused' })
      expect(row('linked')?.['reason']).toMatch(/symbolic link/)
      expect(row('binary')).toMatchObject({ status: 'refused' })
      expect(existsSync(join(folder, 'attempt'))).toBe(false)
    })
  })
})

describe('labs with recordings', () => {
  const labs = join(import.meta.dirname, '../../cuda-kernels/labs')

  describe('lab check --target recorded', () => {
    let dir: string
    let program: string
    let env: Record<string, string>
    beforeEach(async () => {
      dir = await tempDir()
      program = join(dir, 'kernel-ladder.mjs')
      await copyFile(bundle, program)
      env = {
        PATH: '/usr/bin:/bin',
        KERNEL_LADDER_CACHE: join(dir, 'cache'),
        KERNEL_LADDER_DATA: dir,
      }
    })

    async function check(
      id: string,
      text: string,
    ): Promise<{ code: number | null; outcome: LabOutcome }> {
      const file = join(dir, `${id}.cu`)
      await writeFile(file, text)
      const args = ['lab', 'check', id, '--file', file, '--target', 'recorded', '--json']
      const { code, stdout, stderr } = await run(args, env)
      expect(stdout, stderr).not.toBe('')
      return { code, outcome: JSON.parse(stdout) as LabOutcome }
    }

    it.each([
      ['01-coalescing', ['load-sectors', 'store-sectors', 'fast']],
      ['02-shared-tile', ['right', 'race', 'tile', 'traffic', 'fast']],
      ['12-tensor-cores', ['tensor', 'instructions', 'fast']],
    ])(
      '%s exits with 0 for the solution, 1 for the starter, and 3 for changed code',
      async (id, starterFails) => {
        const [starter, solution] = await Promise.all(
          ['starter', 'solution'].map((which) => readFile(join(labs, id, `${which}.cu`), 'utf8')),
        )
        const passed = await check(id, solution!)
        expect(passed.code).toBe(0)
        expect(passed.outcome).toMatchObject({
          status: 'passed',
          target: { kind: 'recorded', name: `${id}-solution-h200` },
          device: { name: 'NVIDIA H200' },
        })
        const figures = passed.outcome.checks.flatMap((one) => one.figures)
        expect(new Set(figures.map(({ value }) => value.evidence))).toContain('measured')

        const failed = await check(id, starter!)
        expect(failed.code).toBe(1)
        expect(
          failed.outcome.checks.filter(({ status }) => status !== 'passed').map((one) => one.id),
        ).toEqual(starterFails)

        const changed = await check(id, `${solution!}\n// mine\n`)
        expect(changed.code).toBe(3)
        expect(changed.outcome.status).toBe('unavailable')
        expect(said(changed.outcome.reason)).toMatch(
          /^Only the lab’s own starter and solution were recorded, and this file is neither/,
        )
      },
    )

    // Use the one-file program, whose judge processes read the files that the program unpacked.
    it('grades a shipped lab, and regrades a row from its stored record', async () => {
      const id = '02-shared-tile'
      const folder = join(dir, 'handed-in')
      await mkdir(folder)
      for (const which of ['starter', 'solution'])
        await copyFile(join(labs, id, `${which}.cu`), join(folder, `${which}.cu`))
      const words = ['lab', 'grade', folder, '--lab', id, '--target', 'recorded', '--unisolated']
      const graded = await runBundle([...words, '--json'], env, program)
      expect(graded.code, graded.stderr).toBe(0)
      expect(faultsOf('lab-grade', JSON.parse(graded.stdout))).toEqual([])
      const { rows } = JSON.parse(graded.stdout) as { rows: GradeRow[] }
      expect(rows.map(({ student, status }) => [student, status])).toEqual([
        ['solution', 'passed'],
        ['starter', 'failed'],
      ])
      const record = rows[0]!.record!
      const kept = JSON.parse(await readFile(record, 'utf8')) as Record<string, unknown>
      expect(kept).toMatchObject({
        ...{ student: 'solution', lab: id, target: 'recorded' },
        row: { status: 'passed', record },
      })
      expect(kept['source']).toBe(await readFile(join(folder, 'solution.cu'), 'utf8'))
      const regrade = () => runBundle(['lab', 'regrade', record, '--unisolated'], env, program)
      const same = await regrade()
      expect(same.code, same.stderr).toBe(0)
      expect(same.stderr).toContain('The row is the same as then.')
      await writeFile(record, JSON.stringify({ ...kept, row: { ...rows[0], status: 'failed' } }))
      const other = await regrade()
      expect(other.code, other.stderr).toBe(1)
      expect(other.stderr).toContain('status: failed then, passed now')
    })

    it("shows the recording's GPU next to the predictions", async () => {
      const file = join(dir, 'lab.cu')
      await copyFile(join(labs, '04-coarsening', 'solution.cu'), file)
      await writeFile(
        join(dir, 'answers.yaml'),
        'predictions:\n  predict-loads: { direction: down, factor: 0.3 }\n  predict-occupancy: { direction: up }\n',
      )
      const args = ['lab', 'check', '04-coarsening', '--file', file, '--target', 'recorded']
      const { code, stdout } = await run(args, env)
      expect(code).toBe(0)
      expect(stdout).toContain('recorded on NVIDIA H200 as 04-coarsening-solution-h200')
      expect(stdout).toMatch(/✓ predict-loads: You predicted down, 0\.3×\. .*That is correct/)
      expect(stdout).toMatch(
        /✗ predict-occupancy: You predicted up\. Achieved occupancy went from 91\.3 % to 32\.8 %/,
      )
      await writeFile(file, `${await readFile(file, 'utf8')}\n// mine\n`)
      const changed = await run(args, env)
      expect(changed.code).toBe(3)
      expect(changed.stdout).toMatch(/· not measured\n/)
    })
  })
})
