/** Tests that the `--json` output of commands on built-in data matches the published schemas. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as documents from '../../../src-main/hosts/cli/documents'
import { fakeTools } from '../../cli/support'
import { faultsOf, isValid, publishedNames, publishedText, schemasDir } from '../../json-schemas'
import { ncuCapture, ncuReportFile } from '../../captures'
import { labText } from '../../services/labs/support'
import { root, setEnv, tempDir } from '../../services/support'
import { runHere, type Finished } from './support'
import { publishedSchemas } from '../../../scripts/lib/published-schemas.mjs'

const { printedDocuments, readFiles } = documents
const deep = 'recorded:gemm-fp32-h200-4096-deep'
const recorded = 'recorded:gemm-fp32-h200-1024'

/**
 * Returns the JSON document of a run. The document must be the entire stdout and match its
 * published schema exactly.
 */
function documentOf<T = unknown>(name: string, { stdout, stderr }: Finished): T {
  expect(stdout, stderr).toMatch(/^[{][^]*[}]\n$/)
  const value = JSON.parse(stdout) as T
  expect(faultsOf(name, value)).toEqual([])
  expect(isValid(name, value)).toBe(true)
  seen.add(name)
  return value
}

const seen = new Set<string>()

/** Creates the fake tools in their own folders and adds them to PATH. */
async function withTools(env: Record<string, string> = {}): Promise<string> {
  const dir = await tempDir()
  setEnv({ KERNEL_LADDER_PATH_ONLY: '1', ...fakeTools(dir), FAKE_LOG: '', ...env })
  return dir
}

const withoutTools = () => withTools({ PATH: '/nonexistent' })

describe('JSON documents from --json', () => {
  it('the JSON of doctor matches its schema with and without tools', async () => {
    await withTools()
    documentOf('doctor', await runHere('doctor', '--json'))
    await withoutTools()
    const nothing = await runHere('doctor', '--json')
    expect(nothing.code).toBe(3)
    documentOf('doctor', nothing)
  })

  it('the JSON of ladders matches its schema', async () => {
    const { tasks, ladders } = documentOf<{ tasks: unknown[]; ladders: unknown[] }>(
      'ladders',
      await runHere('ladders', '--json'),
    )
    expect(tasks).toHaveLength(8)
    expect(ladders.length).toBeGreaterThan(8)
  })

  it('the JSON of machine calibrate matches its schema', async () => {
    const dir = await withTools()
    setEnv({ KERNEL_LADDER_CONFIG: join(dir, 'config') })
    documentOf('machine-calibrate', await runHere('machine', 'calibrate', 'local', '--json'))
  })

  it('the JSON of next matches its schema for a recording and for a report', async () => {
    const { steps } = documentOf<{ steps: { msNow: number; example?: object }[] }>(
      'next',
      await runHere('next', deep, '05_thread_tile_2d', '--json'),
    )
    expect(steps).toHaveLength(5)
    expect(steps[0]).toMatchObject({ lines: expect.any(Array), example: expect.any(Object) })
    const imported = documentOf<{ rung: string; steps: { msNow: number }[] }>(
      'next',
      await runHere('next', ncuReportFile('launches-two-rungs'), '--json'),
    )
    expect(imported.rung).toMatch(/^\d\d_/)
    const card = documentOf<{ steps: object[]; limit: { text?: string } }>(
      'next',
      await runHere('next', recorded, '--json'),
    )
    expect(card.steps).toEqual([])
  })

  it('the JSON of a replayed run matches its schema', async () => {
    await withoutTools()
    const out = join(await tempDir(), 'session')
    const words = ['--target', recorded, '--rungs', '01_naive,02_coalesced', '--out', out]
    const run = await runHere('run', '--ladder', 'gemm-fp32', ...words, '--json')
    expect(run.code, run.stderr).toBe(0)
    documentOf('run', run)
    documentOf('run', await runHere('show', out, '--json'))
  })

  it('the JSON of a live run and of each rung matches its schema for every kind of failure', async () => {
    const faults = 'wrong crash compile-error garble'.split(' ')
    const rungs = ['01_naive', '02_coalesced', '03_shared_tile', '05_thread_tile_2d']
    const dir = await withTools({
      FAKE_FAULTS: rungs.map((rung, index) => `${rung}=${faults[index]}`).join(','),
      FAKE_NCU_UNKNOWN: 'sm__warps_active',
    })
    const out = join(dir, 'session')
    const all = ['00_cublas', ...rungs, '06_float4'].join(',')
    const ladder = ['run', '--ladder', 'gemm-fp32', '--size', '1024', '--rungs', all]
    const run = await runHere(...ladder, '--profile', 'standard', '--out', out, '--json')
    expect(run.code, run.stderr).toBe(1)
    const { rungs: results } = documentOf<{ rungs: { id: string; status: string }[] }>('run', run)
    for (const status of ['ok', 'wrong', 'failed'])
      expect(results.map((one) => one.status)).toContain(status)
    for (const { id } of results)
      documentOf('show-rung', await runHere('show', out, '--rung', id, '--json'))
  })

  it('the JSON of a build-only run matches its schema', async () => {
    await withTools()
    const words = ['--target', 'static:h200', '--rungs', '00_cublas,01_naive']
    const run = await runHere('run', '--ladder', 'gemm-fp32', ...words, '--json')
    expect(run.code, run.stderr).toBe(0)
    documentOf('run', run)
  })

  it('the JSON of a run on several targets matches its schema if one target is unavailable', async () => {
    await withTools()
    const words = ['--rungs', '00_cublas,01_naive', '--size', '1024', '--profile', 'none']
    const targets = ['--target', 'local,static:h200,nowhere']
    const run = await runHere('run', '--ladder', 'gemm-fp32', ...words, ...targets, '--json')
    const document = documentOf<{
      targets: { target: string; code: number; session: string | null }[]
      rungs: { id: string; on: ({ timeMs: number | null } | null)[] }[]
    }>('run-several', run)
    expect(document.targets.map(({ target, code }) => [target, code])).toEqual([
      ['local', 0],
      ['static:h200', 0],
      ['nowhere', 2],
    ])
    expect(run.code).toBe(2)
    expect(document.targets.map(({ session }) => session !== null)).toEqual([true, true, false])
    const [naive] = document.rungs.filter(({ id }) => id === '01_naive')
    expect(naive!.on.map((one) => (one?.timeMs ?? 0) > 0)).toEqual([true, false])
    expect(run.stderr).toMatch(/^local: .*01_naive/m)
    const text = await runHere('run', '--ladder', 'gemm-fp32', ...words, ...targets)
    expect(text.stdout).toMatch(/rung +local +static:h200 +local rate/)
    const twice = await runHere('run', '--ladder', 'gemm-fp32', '--target', 'local,local')
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('local twice')])
  })

  it('the JSON of import matches its schema for a report and for a table', async () => {
    await withoutTools()
    const table = join(await tempDir(), 'details.csv')
    await writeFile(table, ncuCapture('import-details'))
    for (const file of [ncuReportFile('launches-two-rungs'), table]) {
      const out = join(await tempDir(), 'session')
      const run = await runHere('import', file, '--out', out, '--json')
      expect(run.code, run.stderr).toBe(0)
      documentOf('run', run)
    }
  })

  it('the JSON of show matches its schema for a built-in session and for an older session', async () => {
    documentOf('run', await runHere('show', 'recorded:gemm-tensor-h200-8192', '--json'))
    const folder = await tempDir()
    const older = join(root, 'test/captures/sessions/failures-2.json')
    await copyFile(older, join(folder, 'session.json'))
    documentOf('run', await runHere('show', folder, '--json'))
  })

  it('the JSON of show --rung and of diff matches its schema for deep profiles', async () => {
    await withoutTools()
    const out = join(await tempDir(), 'session')
    const [a, b] = ['02_coalesced', '03_shared_tile'] as const
    const words = ['--rungs', `${a},${b}`, '--target', deep, '--profile', 'deep', '--out', out]
    expect((await runHere('run', '--ladder', 'gemm-fp32', ...words)).code).toBe(0)
    const { deep: profile } = documentOf<{ deep: unknown }>(
      'show-rung',
      await runHere('show', out, '--rung', b, '--json'),
    )
    expect(profile).not.toBeNull()
    const diff = documentOf<{ deep: unknown; causes: { lines: { b: { file: string }[] } }[] }>(
      'diff',
      await runHere('diff', out, a, b, '--json'),
    )
    expect(diff.deep).not.toBeNull()
    expect(diff.causes[0]!.lines.b[0]!.file).toBe(`gemm/${b}.cu`)
  })

  it('the JSON of show --rung matches its schema without a deep profile', async () => {
    documentOf('show-rung', await runHere('show', recorded, '--rung', '02_coalesced', '--json'))
    const tensor = 'recorded:gemm-tensor-h200-4096'
    documentOf('show-rung', await runHere('show', tensor, '--rung', '54_mma_sync', '--json'))
  })

  it('the JSON of diff matches its schema if there is a warning', async () => {
    const other = ['recorded:seed-cutlass-h200', '00_cublas', '23_fused_epilogue']
    const { warnings } = documentOf<{ warnings: { text: string }[] }>(
      'diff',
      await runHere('diff', ...other, '--json'),
    )
    expect(warnings[0]?.text).toMatch(/^00_cublas computes .*, and 23_fused_epilogue /)
  })

  it("the JSON of profile matches its schema and includes the program's exit code", async () => {
    await withTools({ FAKE_PROGRAM: 'twelve', FAKE_NCU: '' })
    const profile = (end: string) =>
      runHere('profile', '--profile', 'card', '--json', '--', 'sh', '-c', `echo words; ${end}`)
    const done = await profile('exit 0')
    expect(done.code).toBe(0)
    expect(done.stderr).toContain('words\n')
    const { rungs, program } = documentOf<{ rungs: unknown[]; program: { exitCode: number } }>(
      'run',
      done,
    )
    expect(rungs).toHaveLength(7)
    expect(program.exitCode).toBe(0)
    const failed = await profile('exit 3')
    expect(failed.code).toBe(1)
    expect(documentOf<{ program: object }>('run', failed).program).toMatchObject({ exitCode: 3 })
  })

  it('the JSON of a program ladder matches its schema, except for kernel commands, which reject the ladder', async () => {
    const dir = await withTools({ FAKE_PROGRAM: 'twelve', FAKE_NCU: '' })
    const program = (word: string) => ['sh', '-c', `echo ${word} > out.txt`]
    const ladder = {
      ...{ kernel_ladder: 1, id: 'words', title: 'Words', summary: 'Words of a program.' },
      programs: { runs: 2, output: { file: 'out.txt' } },
      rungs: ['a', 'a', 'b'].map((word, index) => ({
        ...{ id: `${index}_${word}`, title: word, program: program(word) },
      })),
    }
    await writeFile(join(dir, 'ladder.yaml'), JSON.stringify(ladder))
    const own = ['--ladder', dir]
    const out = join(dir, 'session')
    const run = await runHere('run', ...own, '--trust', '--out', out, '--json')
    expect(run.code, run.stderr).toBe(1)
    const { rungs } = documentOf<{ rungs: { status: string }[] }>('run', run)
    expect(rungs.map(({ status }) => status)).toEqual(['ok', 'ok', 'wrong'])
    expect(documentOf('run', await runHere('show', out, '--json'))).toMatchObject({ rungs })
    documentOf('show-rung', await runHere('show', out, '--rung', '1_a', '--json'))
    documentOf('diff', await runHere('diff', out, '0_a', '1_a', '--json'))
    documentOf('compare', await runHere('compare', out, out, '--json'))
    const diff = await runHere('diff', out, '0_a', '1_a')
    expect(diff.stdout).toContain('The session does not contain both sources.')
    for (const words of [
      ['history', ...own],
      ['regress', ...own, '--against', out],
      ['sanitize', ...own],
      ['tune', ...own, '--rung', '0_a'],
      ['run', ...own, '--watch'],
      ['run', ...own, '--rung', '0_a', '--commits', 'a..b'],
    ]) {
      const { code, stderr } = await runHere(...words)
      expect([words[0], code]).toEqual([words[0], 2])
      expect(stderr).toMatch(
        /programs, which this command does not support|cannot be used with a ladder of/,
      )
    }
  })

  it('the JSON of compare matches its schema for ladders, for imports, and for a ladder with an import', async () => {
    const out = join(await tempDir(), 'imported')
    await runHere('import', ncuReportFile('launches-two-rungs'), '--out', out, '--json')
    const other = 'recorded:gemm-fp32-h200-1024'
    const ladders = documentOf<{ pairs: { by: string }[] }>(
      'compare',
      await runHere('compare', recorded, other, '--json'),
    )
    expect(ladders.pairs[0]!.by).toBe('rung')
    const same = documentOf<{ total: { ratio: number }; pairs: { a: string; b: string }[] }>(
      'compare',
      await runHere('compare', out, out, '--json'),
    )
    expect(same.total.ratio).toBe(1)
    expect(same.pairs.map(({ a, b }) => a === b)).toEqual([true, true, true])
    const each = documentOf<{ comparable: { ok: boolean } }>(
      'compare',
      await runHere('compare', recorded, out, '--json'),
    )
    expect(each.comparable.ok).toBe(false)
  })

  it('the JSON of report --ci and of report --compare matches its schema', async () => {
    const ci = await runHere('report', recorded, '--ci', '--baseline', recorded, '--json')
    documentOf('ci', ci)
    const two = ['report', recorded, '--compare', 'recorded:gemm-fp32-h200-1024']
    const form = ['--format', 'json', '--date', '2026-11-22', '--out', '-']
    documentOf('comparison', await runHere(...two, ...form))
  })

  it('the JSON of sanitize matches its schema with findings, without a verdict, and without findings', async () => {
    await withTools({ FAKE_FAULTS: '02_coalesced=out-of-bounds,03_shared_tile=race' })
    const rungs = '01_naive,02_coalesced,03_shared_tile'
    const words = ['sanitize', '--ladder', 'gemm-fp32', '--rungs', rungs]
    const run = await runHere(...words, '--tool', 'memcheck,racecheck', '--json')
    expect(run.code, run.stderr).toBe(1)
    documentOf('sanitize', run)
  })

  it('the JSON of regress matches its schema for a built-in ladder', async () => {
    const dir = await withTools({
      FAKE_FAULTS: '02_coalesced=wrong,03_shared_tile=compile-error',
    })
    const junit = join(dir, 'regress.xml')
    const rungs = '01_naive,02_coalesced,03_shared_tile,06_float4'
    const words = ['--ladder', 'gemm-fp32', '--size', '1024', '--rungs', rungs, '--rounds', '6']
    const against = ['regress', ...words, '--against', recorded]
    // The fake compiler also fails for the old code, and the faulty builds remain in the cache.
    expect((await runHere(...against, '--json')).code).toBe(2)
    setEnv({ FAKE_FAULTS: '' })
    const run = await runHere(...against, '--json', '--junit', junit)
    expect(run.code, run.stderr).toBe(0)
    documentOf('regress', run)
    expect(await readFile(junit, 'utf8')).toContain('failures="0" skipped="1"')
    const text = await runHere(...against)
    expect(text.stdout).toMatch(/06_float4 .* same/)
    const markdown = await runHere(...against, '--markdown')
    expect(markdown.stdout).toContain('| `06_float4` |')
  })

  it('the JSON of tune matches its schema for the values that a header allows', async () => {
    await withTools()
    const words = ['tune', '--ladder', 'gemm-fp32', '--rung', '03_shared_tile', '--size', '1024']
    const run = await runHere(...words, '--json')
    expect(run.code, run.stderr).toBe(0)
    documentOf('tune', run)
  })

  it('the JSON of machine list matches its schema if there are no machines', async () => {
    await withTools()
    documentOf('machines', await runHere('machine', 'list', '--json'))
  })

  it('the JSON of history matches its schema for one session', async () => {
    await withTools()
    const ladder = ['--ladder', 'gemm-fp32', '--size', '1024', '--rungs', '01_naive']
    expect((await runHere('run', ...ladder, '--profile', 'none')).code).toBe(0)
    documentOf('history', await runHere('history', ...ladder, '--json'))
    expect((await runHere('history', ...ladder)).stdout).toContain('too few sessions')
  })

  it('the JSON of lab list matches its schema', async () => {
    documentOf('lab-list', await runHere('lab', 'list', '--json'))
    documentOf('sessions', await runHere('sessions', '--json'))
  })

  it('the JSON of lab check matches its schema for recorded and for unavailable checks', async () => {
    await withoutTools()
    const lab = join(root, 'cuda-kernels/labs/02-shared-tile')
    const file = join(await tempDir(), 'lab.cu')
    for (const [text, code] of [
      [await readFile(join(lab, 'starter.cu'), 'utf8'), 1],
      ['__global__ void other() {}\n', 3],
    ] as const) {
      await writeFile(file, text)
      const words = ['lab', 'check', '02-shared-tile', '--file', file, '--target', 'recorded']
      const run = await runHere(...words, '--json')
      expect(run.code, run.stderr).toBe(code)
      documentOf('lab-check', run)
    }
  })

  it('the JSON of a measured lab check matches its schema', async () => {
    const dir = await withTools()
    const lab = join(dir, 'coalesce')
    await mkdir(lab)
    const kernel = (name: string) => readFile(join(root, 'cuda-kernels/gemm', `${name}.cu`), 'utf8')
    await writeFile(join(lab, 'lab.md'), labText)
    await writeFile(join(lab, 'starter.cu'), `${await kernel('01_naive')}// like: 01_naive\n`)
    await writeFile(join(lab, 'solution.cu'), await kernel('02_coalesced'))
    expect((await runHere('lab', 'trust', lab, '--yes')).code).toBe(0)
    const answers = join(dir, 'answers.yaml')
    await writeFile(answers, 'predictions:\n  time: { direction: down, factor: 0.2 }\n')
    const words = ['lab', 'check', lab, '--answers', answers, '--json']
    documentOf('lab-check', await runHere(...words, '--file', join(lab, 'starter.cu')))
  })
})

describe('a command that fails', () => {
  it.each([
    [2, ['--json']],
    [2, ['frobnicate', '--json']],
    [2, ['run', '--json']],
    [2, ['run', '--ladder', 'nope', '--json']],
    [2, ['run', '--ladder', 'gemm-fp32', '--frob', '--json']],
    [3, ['run', '--ladder', 'gemm-fp32', '--json']],
    [2, ['show', '/nope', '--json']],
    [2, ['show', recorded, '--rung', 'nope', '--json']],
    [2, ['diff', recorded, '01_naive', 'nope', '--json']],
    [2, ['import', '/nope', '--json']],
    [2, ['report', recorded, '--ci', '--baseline', '/nope', '--json']],
    [2, ['report', recorded, '--format', 'md', '--json']],
    [3, ['sanitize', '--ladder', 'gemm-fp32', '--json']],
    [3, ['regress', '--ladder', 'gemm-fp32', '--size', '1024', '--against', recorded, '--json']],
    [2, ['regress', '--ladder', 'gemm-fp32', '--against', '/nope', '--json']],
    ...['0', '-1', '400', 'x'].map((percent): [number, string[]] => [
      2,
      [
        'regress',
        '--ladder',
        'gemm-fp32',
        '--against',
        recorded,
        `--threshold=${percent}`,
        '--json',
      ],
    ]),
    [2, ['lab', 'check', 'nope', '--file', 'x.cu', '--json']],
    [2, ['lab', 'grade', '/nope', '--json']],
    [2, ['serve', '--port', '70000', '--json']],
  ])(
    'exits with %i, with a JSON reason on stdout and an error message on stderr: %j',
    async (code, words) => {
      await withoutTools()
      const run = await runHere(...words)
      expect(run.code).toBe(code)
      const { error } = documentOf<{ error: { kind: string; message: string | { text: string } } }>(
        'error',
        run,
      )
      expect(error.kind).toBe(code === 3 ? 'missing' : error.kind)
      const { message } = error
      expect(run.stderr).toContain(typeof message === 'string' ? message : message.text)
      // Without `--json`, `serve` would start the server, and an empty command would print the
      // first screen.
      if (words[0] !== 'serve' && words.length > 1)
        expect((await runHere(...words.filter((word) => word !== '--json'))).stdout).toBe('')
    },
  )
})

it('every JSON document from --json has a test in this file', () => {
  // The listed commands start the program again in a new process, so test/cli/ checks their
  // documents.
  const elsewhere = ['lab-grade', 'machine-check', 'machine-runs', 'machine-fetch']
  const wanted = printedDocuments
    .map(({ name }) => name)
    .filter((name) => !elsewhere.includes(name))
  expect([...seen].sort()).toEqual(wanted.sort())
})

describe('docs/schemas', () => {
  it("matches the program's current input and output", async () => {
    const schemas = await publishedSchemas(documents)
    expect(publishedNames.map((name) => `${name}.json`).sort()).toEqual([...schemas.keys()].sort())
    for (const [file, text] of schemas)
      expect(await readFile(join(schemasDir, file), 'utf8'), 'run `npm run schemas`').toBe(text)
  })

  it('allows new fields from a later version, but rejects missing fields and wrong types', async () => {
    const value = documentOf<{ labs: object[] }>('lab-list', await runHere('lab', 'list', '--json'))
    const [first, ...rest] = value.labs
    const withFirst = (one: object) => ({ ...value, labs: [one, ...rest] })
    expect(isValid('lab-list', withFirst({ ...first, added: 1 }))).toBe(true)
    expect(faultsOf('lab-list', withFirst({ ...first, added: 1 }))[0]).toContain('added')
    expect(isValid('lab-list', withFirst({ ...first, minutes: '30' }))).toBe(false)
    const { title: _title, ...untitled } = first as { title: string }
    expect(isValid('lab-list', withFirst(untitled))).toBe(false)
    expect(isValid('lab-list', { ...value, schema: 99 })).toBe(false)
  })

  it('is listed completely, with versions, in the table in docs/reference/json.md', async () => {
    const text = await readFile(join(root, 'docs/reference/json.md'), 'utf8')
    const rows = [
      ...text.matchAll(/^\|.*\[[\w-]+\]\(\.\.\/schemas\/([\w-]+)\.json\) *\| *(\d+|–) *\|$/gm),
    ]
    const listed = rows.map(([, name, version]) => [name, version === '–' ? null : Number(version)])
    const published = [...printedDocuments, ...readFiles]
    expect(listed.sort()).toEqual(published.map(({ name, version }) => [name, version]).sort())
    for (const name of publishedNames) expect(publishedText(name)).toContain('"$schema"')
  })
})
