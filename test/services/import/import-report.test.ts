import { chmod, mkdir, open, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSources } from '../../../src-main/adapters/sessions/session-sources'
import { roofline } from '../../../src-main/domain/analysis/roofline'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import { lineHeat } from '../../../src-main/domain/session/deep'
import type { RungResult } from '../../../src-main/domain/session/session'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { importReport, type ImportOptions } from '../../../src-main/services/import/import-ncu'
import { openNamed } from '../../../src-main/services/sessions/open-session'
import { ncuCapture, ncuReport, programCapture } from '../../captures'
import { setupIn, tempDir } from '../support'
import { said } from '../../support'
import { reportHtml } from '../../../src-main/services/report/index'
import { noPrivates, recording, template, withTroubles, type Sample } from '../report/samples'
import { isHtmlFile } from '../../../src-main/adapters/sessions/html-report-file'
import { readDeep } from '../../../src-main/adapters/sessions/deep-profiles'
import { importHtml } from '../../../src-main/services/import/import-html'
import { listAll } from '../../../src-main/services/sessions/list-sessions'

const captured = join(
  import.meta.dirname,
  '../../captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep',
)

async function setUp(text?: string | Uint8Array, name = 'mine.csv') {
  const dir = await tempDir()
  const file = join(dir, name)
  const store = join(dir, 'sessions')
  if (text !== undefined) await writeFile(file, text)
  const run = (path = file, options: Partial<ImportOptions> = {}) =>
    importReport(path, { store, appVersion: '0.0.0', ...options })
  return { dir, file, store, run }
}

describe('a report', () => {
  it('becomes a readable session with one rung per launch, our metrics, and ncu’s metrics', async () => {
    const { run } = await setUp()
    const { session, folder } = await run(captured)
    expect(await readSession(folder)).toEqual(session)
    expect(session.target).toEqual({ kind: 'imported', name: 'launches-two-rungs.ncu-rep' })
    expect(session.ladder).toMatchObject({ id: 'imported', title: 'launches-two-rungs' })
    expect(session.createdAt).toBe('2026-11-21T02:44:56.000Z')
    expect(session.device).toMatchObject({ name: 'NVIDIA H200', smCount: 132 })
    expect(session.tools).toEqual({ nvcc: null, ncu: '2025.3.1.0' })
    expect(session.settings).toMatchObject({ clockControl: 'none', cacheControl: null })

    const [first] = session.rungs
    expect(session.rungs.map(({ id }) => id)).toEqual([
      '00_tile_kernel',
      '01_tile_kernel',
      '02_scale',
    ])
    expect(session.rungs.map(({ profile }) => profile!.kernels[0]!.range)).toEqual([
      '03_a',
      '04_b',
      '04_b',
    ])
    expect(first).toMatchObject({ build: null, verify: null, timing: null, file: '' })
    expect(first!.metrics.fmaUtilization).toMatchObject({ unit: '%', evidence: 'measured' })
    expect(first!.metrics.fmaUtilization!.value).toBeCloseTo(8.65, 2)
    expect(first!.ncuMetrics!['gpu__time_duration.sum']).toEqual({ value: 434208, unit: 'ns' })
    expect(Object.keys(first!.ncuMetrics!)).toHaveLength(299)
  })

  it('is stored next to the session, which warns about missing data', async () => {
    const { run } = await setUp()
    const { session, folder } = await run(captured)
    expect(await readFile(join(folder, 'profile.ncu-rep'))).toEqual(await readFile(captured))
    expect(said(session.warnings[0])).toMatch(/nothing was built.*ncu's own.*not timings/)
    expect(JSON.stringify(session)).not.toMatch(/\/tmp\/x|"vm"|192\.0\.2/)
  })

  it('that is truncated is imported partially, with a note', async () => {
    const { run } = await setUp((await readFile(captured)).subarray(0, 90_000), 'cut.ncu-rep')
    const { session } = await run()
    expect(said(session.warnings).join()).toContain('launches after the first 1 are missing')
    expect(session.rungs.map(({ id }) => id)).toEqual(['00_tile_kernel'])
  })

  it('is listed as an import, and opened like a run', async () => {
    const { run, dir } = await setUp()
    const { folder } = await run(captured)
    const places = setupIn(dir, { recordingsDir: join(dir, 'none') })
    expect((await listAll(places)).map(({ kind }) => kind)).toEqual(['imported'])
    expect((await openNamed(places, folder)).sources).toEqual({})
    expect((await run(captured)).folder).toBe(`${folder}-2`)
  })
})

describe('a report with its code', () => {
  const import1 = async () => {
    const { run } = await setUp(ncuReport('five-kernels'), 'five.ncu-rep')
    return run()
  }

  it('becomes sources, recommendations, and instructions and lines with counters', async () => {
    const { session, folder } = await import1()
    expect(session.settings.profile).toBe('deep')
    expect(session.rungs.map(({ file }) => file)).toEqual([
      'gemm/01_naive.cu',
      'gemm/02_coalesced.cu',
      'gemm/03_shared_tile.cu',
      'gemm/04_thread_tile_1d.cu',
      'gemm/05_thread_tile_2d.cu',
    ])
    const { texts, faults } = await readSources(folder, session)
    expect(faults).toEqual([])
    expect(texts[session.rungs[2]!.id]).toContain('gemmSharedTile')
    const deep = await readDeep(folder, session.rungs[0]!.id)
    const [kernel] = deep!.kernels
    expect(kernel!.instructions).toHaveLength(240)
    expect(kernel!.rules.map(({ name }) => name)).toContain('UncoalescedGlobalAccess')
    expect(lineHeat(deep!, 'executed')[0]!.text).toMatch(/\S/)
    expect(deep!.notes).toEqual([])
  })

  it('has a time under ncu for each kernel, but no time from the runner', async () => {
    const { session } = await import1()
    for (const { timing, profiledTime, ncuMetrics } of session.rungs) {
      expect(timing).toBeNull()
      const ms = (ncuMetrics!['gpu__time_duration.sum']!.value as number) / 1e6
      expect(profiledTime).toMatchObject({ launches: 1, totalMs: ms, minMs: ms, spread: null })
    }
  })

  it('collected with ncu’s full set has the derivable figures: traffic, operations, and a roofline', async () => {
    const { run } = await setUp(ncuReport('set-full'), 'full.ncu-rep')
    const { session } = await run()
    const [{ metrics, ncuMetrics }] = session.rungs as [RungResult]
    const counted = (name: string): number => ncuMetrics![name]!.value as number
    expect(metrics.dramBytes).toMatchObject({
      value: counted('dram__bytes_read.sum') + counted('dram__bytes_write.sum'),
      evidence: 'derived',
    })
    expect(metrics.l2Bytes!.value).toBe(32 * counted('lts__t_sectors.sum'))
    // The kernel computes a 1024³ product in tiles of 32, using only FFMA.
    expect(metrics.fp32Operations!.value).toBe(2 * 1024 ** 3)
    expect(roofline(session).paths.dram.map(({ rung }) => rung)).toContain(session.rungs[0]!.id)
  })

  it('can be imported from ncu’s source page, with the same instructions and lines', async () => {
    const { run } = await setUp(ncuCapture('source-cuda-sass'), 'source.csv')
    const { session, folder } = await run()
    expect(session.rungs.map(({ title }) => title)).toEqual(['tile_kernel<32>', 'scale'])
    expect(session.settings.profile).toBe('deep')
    const deep = await readDeep(folder, session.rungs[0]!.id)
    expect(deep!.kernels[0]!.instructions).toHaveLength(160)
    expect(deep!.kernels[0]!.instructions[0]!.text).toBe('LDC R1, c[0x0][0x28]')
    expect(deep!.kernels[0]!.lines.map(({ line }) => line)).toEqual([6, 8, 9, 10, 11, 12])
  })
})

describe("ncu's CSV", () => {
  it('has the same figures as the report, to the printed precision', async () => {
    const { run } = await setUp(ncuCapture('launches-two-rungs'))
    const [csv, report] = [await run(), await run(captured)]
    for (const [index, rung] of csv.session.rungs.entries())
      for (const [id, { value, unit, evidence }] of Object.entries(rung.metrics)) {
        const other = report.session.rungs[index]!.metrics[id]!
        expect({ id, unit, evidence }).toEqual({ id, unit: other.unit, evidence: other.evidence })
        if (value !== null) expect(Math.abs(value - other.value!), id).toBeLessThan(0.006)
      }
    expect(said(csv.session.warnings).join()).toContain('unmodified GPU clocks')
    expect(await readdir(csv.folder)).toEqual(['session.json'])
  })

  it('with 14 launches is compared launch by launch with an edited copy', async () => {
    const page = programCapture('import-deep-twelve').stdout
    const duration = parseNcuRawCsv(page).launches.map(
      ({ metrics }) => metrics['gpu__time_duration.sum']!.value as number,
    )
    expect(duration).toHaveLength(14)
    const between = '","'
    const edited = page.split('\n').filter((line) => !line.startsWith('"3"'))
    const column = edited[0]!.split(between).indexOf('gpu__time_duration.sum')
    const scale = (launch: number, factor: number): void => {
      const at = edited.findIndex((line) => line.startsWith(`"${launch}"`))
      const time = `${duration[launch]! * factor}`
      edited[at] = edited[at]!.split(between).with(column, time).join(between)
    }
    scale(5, 1.3)
    scale(9, 0.8)
    const [before, after] = [
      await (await setUp(page, 'before.csv')).run(),
      await (await setUp(edited.join('\n'), 'after.csv')).run(),
    ]
    const { pairs, onlyA, onlyB, total } = compareSessions(before.session, after.session)
    expect(onlyA.map(({ kernel }) => kernel?.name)).toEqual(['void scale<4, 1>(float *, int)'])
    expect(onlyB).toEqual([])
    const moved = pairs.filter(({ verdict }) => verdict !== 'same')
    expect(moved.map(({ verdict, ratio }) => [verdict, ratio!.toFixed(3)]).sort()).toEqual([
      ['faster', '0.800'],
      ['slower', '1.300'],
    ])
    expect(pairs).toHaveLength(13)
    // The edited copy lacks one launch, so each of its launches has a counterpart.
    const left = duration.filter((_, launch) => launch !== 3)
    const timesOf = (side: 'timeA' | 'timeB'): number[] =>
      pairs.map((pair) => Math.round(pair[side]! * 1e6)).sort((a, b) => a - b)
    expect(timesOf('timeA')).toEqual([...left].sort((a, b) => a - b))
    expect(total.timeA! - total.timeB!).toBeCloseTo(
      (duration[3]! - duration[5]! * 0.3 + duration[9]! * 0.2) / 1e6,
      9,
    )
  })

  it('without ranges has one rung per launch, in order, with valid and distinct ids', async () => {
    const { run } = await setUp(ncuCapture('no-nvtx'))
    const { session } = await run()
    expect(session.rungs.map(({ id }) => id)).toEqual([
      '00_tile_kernel',
      '01_tile_kernel',
      '02_tile_kernel',
      '03_scale',
    ])
    expect(session.rungs.map(({ title }) => title)).toEqual([
      'tile_kernel<16> #1',
      'tile_kernel<32>',
      'tile_kernel<16> #2',
      'scale',
    ])
  })

  it('from the details page has a note about missing data', async () => {
    const { run } = await setUp(ncuCapture('import-details'))
    const { session } = await run()
    const { metrics } = session.rungs[0]!
    expect(metrics.theoreticalOccupancy).toMatchObject({ value: 100, evidence: 'measured' })
    expect(said(metrics.sharedLoads)).toMatchObject({
      value: null,
      evidence: 'unavailable',
      reason: expect.stringContaining('Imported from mine.csv'),
    })
    expect(session.device).toBeNull()
  })

  it('from the details page preserves ncu’s recommendations, and reports that other data is missing', async () => {
    const { run } = await setUp(ncuCapture('import-details'))
    const { session, folder } = await run()
    const advice = await readDeep(folder, session.rungs[0]!.id)
    expect(advice!.kernels[0]!.rules.map(({ name }) => name)).toContain('SharedMemoryConflicts')
    expect(advice!.kernels[0]!.instructions).toEqual([])
    expect(said(advice!.notes).join()).toMatch(
      /Imported from mine\.csv.*no per-instruction or per-line counters/,
    )
    const raw = await setUp(ncuCapture('import-set-full'))
    const other = await raw.run()
    expect(await readDeep(other.folder, other.session.rungs[0]!.id)).toBeNull()
  })

  it('can be in UTF-16, as redirected by PowerShell', async () => {
    const { run } = await setUp(Buffer.from(`\uFEFF${ncuCapture('no-nvtx')}`, 'utf16le'))
    expect((await run()).session.rungs).toHaveLength(4)
  })

  it('uses the same amount of memory at any size', async () => {
    const { run, file } = await setUp('')
    const [head, row] = [
      ncuCapture('no-nvtx')
        .split('\n')
        .filter((line) => line.startsWith('"'))
        .slice(0, 2)
        .join('\n'),
      ncuCapture('no-nvtx')
        .split('\n')
        .filter((line) => line.startsWith('"0"'))[0]!,
    ]
    const handle = await open(file, 'w')
    await handle.write(`${head}\n`)
    const block = `${row}\n`.repeat(500)
    let rows = 0
    for (let bytes = 0; bytes < 60e6; bytes += block.length, rows += 500) await handle.write(block)
    await handle.close()
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const { session } = await run().finally(() => clearInterval(watch))
    expect(session.rungs).toHaveLength(500)
    expect(said(session.warnings).join()).toContain(`contains ${rows} launches; the first 500`)
    // Memory contains the 500-launch session and two copies of its text, but not the file.
    expect((peak - before) / 2 ** 20).toBeLessThan(400)
  })
})

describe('kernels as a ladder', () => {
  it('have the requested order and names', async () => {
    const { run, file } = await setUp(ncuCapture('no-nvtx'))
    const { session } = await run(file, {
      order: ['03_scale', '00_tile_kernel'],
      names: new Map([['00_tile_kernel', 'Tile, 16 wide']]),
    })
    expect(session.rungs.map(({ id, title }) => [id, title])).toEqual([
      ['03_scale', 'scale'],
      ['Tile-16-wide', 'Tile, 16 wide'],
    ])
    expect(session.ladder.rungs.map(({ id }) => id)).toEqual(['03_scale', 'Tile-16-wide'])
  })

  it.each([
    [{ order: ['nope'] }, /imported id "nope"/],
    [{ order: ['03_scale', '03_scale'] }, /more than once/],
    [{ names: new Map([['nope', 'x']]) }, /imported id "nope"/],
    [{ order: ['03_scale'], names: new Map([['00_tile_kernel', 'x']]) }, /--order omits/],
  ])('%j is rejected', async (options, message) => {
    const { run, file } = await setUp(ncuCapture('no-nvtx'))
    await expect(run(file, options)).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringMatching(message),
    })
  })
})

describe('files that cannot be imported', () => {
  const table = ncuCapture('launches-two-rungs')
  it.each([
    ['an empty file', '', /is empty/],
    ['text without a table', 'hello\n', /contains no kernel launch/],
    [
      'a run of ncu that profiled nothing',
      ncuCapture('no-kernels'),
      /no kernel launch.*No kernels/,
    ],
    ['a header without rows', table.slice(0, table.indexOf('"466"')), /contains no kernel launch/],
    ['foreign bytes', new Uint8Array([1, 0, 2, 0, 255]), /neither an ncu report nor a text file/],
    [
      'the beginning of a report',
      new Uint8Array([0x4e, 0x56, 0x52, 0]),
      /no kernel launch.*truncated/,
    ],
  ])('%s is rejected with the reason', async (_, content, message) => {
    const { run, store } = await setUp(content)
    await expect(run()).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringMatching(message),
    })
    expect(await readdir(store).catch(() => [])).toEqual([])
  })

  it("include a missing file, a folder, a device, and another user's file", async () => {
    const { run, dir, file } = await setUp('x')
    await expect(run(join(dir, 'none'))).rejects.toThrow(/There is no file/)
    await expect(run(dir)).rejects.toThrow(/is a folder/)
    await expect(run('/dev/zero')).rejects.toThrow(/not a regular file/)
    await chmod(file, 0)
    // If the test runs as root, the file is readable but contains no table.
    await expect(run()).rejects.toThrow(/permission denied|contains no kernel launch/)
  })

  it('do not change an existing output folder', async () => {
    const { run, dir } = await setUp(table)
    const out = join(dir, 'taken')
    await mkdir(out)
    await expect(run(undefined, { out })).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('already exists'),
    })
    expect(await readdir(out)).toEqual([])
  })

  it('leave no files in a folder created for them', async () => {
    const { run, dir } = await setUp('hello')
    await expect(run(undefined, { out: join(dir, 'new') })).rejects.toThrow()
    expect(await readdir(dir)).toEqual(['mine.csv'])
  })
})

async function written(...samples: [Sample] | [Sample, Sample]) {
  const dir = await tempDir()
  const path = join(dir, 'report.html')
  await writeFile(path, reportHtml(samples, {}, template, noPrivates))
  return { dir, path, store: join(dir, 'store') }
}

describe('an HTML report', () => {
  it('is distinguished from ncu’s files by its first bytes', async () => {
    const { dir, path } = await written(recording())
    expect(await isHtmlFile(path)).toBe(true)
    await writeFile(join(dir, 'x.csv'), '"ID","Process ID"')
    for (const other of ['x.csv', 'nope', '.'])
      expect(await isHtmlFile(join(dir, other))).toBe(false)
  })

  it('is imported as the session that it was created from, including sources', async () => {
    for (const sample of [recording(), withTroubles()]) {
      const { path, store } = await written(sample)
      const { session, folder } = await importHtml(path, { store })
      expect(session).toEqual(sample.session)
      const saved = await readSession(folder)
      expect(saved).toEqual(sample.session)
      expect((await readSources(folder, saved)).texts).toEqual(sample.sources)
      // The second import gets a numbered folder name.
      expect((await importHtml(path, { store })).folder).toBe(`${folder}-2`)
    }
  })

  it('with two sessions requires a choice', async () => {
    const after = recording()
    after.session.id = 'after'
    const { path, store } = await written(recording(), after)
    await expect(importHtml(path, { store })).rejects.toThrow(/two sessions.*/)
    expect((await importHtml(path, { store, which: 'second' })).session.id).toBe('after')
    const single = await written(recording())
    await expect(importHtml(single.path, { store, which: 'second' })).rejects.toThrow(
      'contains only one session',
    )
  })

  it.each(['../../evil.cu', '/etc/passwd', 'a/../../b.cu', '.hidden', 'a\\..\\b', ''])(
    'writes no source outside its session folder: %j',
    async (file) => {
      const sample = recording()
      sample.session.id = '../../x'
      sample.session.rungs[1]!.file = file
      const { dir, path, store } = await written(sample)
      const { folder } = await importHtml(path, { store })
      expect(folder.startsWith(store)).toBe(true)
      expect((await readdir(dir)).sort()).toEqual(['report.html', 'store'])
      expect(await readdir(store)).toEqual(['x'])
      const sources = await readdir(join(folder, 'sources', 'gemm'))
      expect(sources).toHaveLength(sample.session.rungs.length - 1)
    },
  )

  it('leaves no files if it cannot be read or saved', async () => {
    const { dir, path, store } = await written(recording())
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.slice(0, -2000).replace('</script>', ''))
    await expect(importHtml(path, { store })).rejects.toThrow('report.html')
    await expect(importHtml(path, { store, out: dir })).rejects.toThrow()
    expect(await readdir(dir)).toEqual(['report.html'])
  })
})
