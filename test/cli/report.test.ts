import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Session } from '../../src-main/domain/session/session'
import { faultsOf } from '../json-schemas'
import { recordingsDir, tempDir } from '../services/support'
import { stretched } from '../services/report/samples'
import { bundle, run } from './support'
import { readSession } from '../../src-main/adapters/sessions/session-store'

const recorded = 'recorded:gemm-fp32-h200-2048'

/** Writes a changed copy of the recording to disk. */
async function session(dir: string, change: (session: Session) => void): Promise<string> {
  const folder = join(dir, 'changed')
  const value = await readSession(join(recordingsDir, 'gemm-fp32-h200-2048'))
  change(value)
  await mkdir(folder)
  await writeFile(join(folder, 'session.json'), JSON.stringify(value))
  return folder
}

const slower = (value: Session): void => {
  const rung = value.rungs.find(({ id }) => id === '06_float4')!
  rung.timing = stretched(rung.timing!, 1.5)
}

describe('report', () => {
  it.each(['md', 'csv', 'json', 'tex'])(
    'writes %s with the same content to a file and to stdout',
    async (format) => {
      const out = join(await tempDir(), `report.${format}`)
      const written = await run(['report', recorded, '--format', format, '--out', out])
      expect([written.code, written.stdout]).toEqual([0, ''])
      // Markdown on stdout cannot include pictures.
      const without = format === 'md' ? ['--sections', 'ladder,matrix,compare'] : []
      const printed = await run(['report', recorded, '--format', format, '--out', '-', ...without])
      expect(printed.code).toBe(0)
      if (format === 'md') {
        const pictures = await readdir(join(dirname(out), 'report.assets'))
        expect(pictures).toContain('throughput.svg')
        const plain = join(dirname(out), 'plain.md')
        await run(['report', recorded, '--format', 'md', '--out', plain, ...without])
        expect(await readFile(plain, 'utf8')).toBe(printed.stdout)
        return
      }
      expect(await readFile(out, 'utf8')).toBe(printed.stdout)
      expect(printed.stdout).toContain('06')
    },
  )

  it('imports a file whose name is not UTF-8, which Node cannot represent', async () => {
    const dir = await tempDir()
    const page = join(dir, 'page.html')
    expect((await run(['report', recorded, '--format', 'html', '--out', page])).code).toBe(0)
    const odd = Buffer.concat([Buffer.from(`${dir}/r`), Buffer.from([0xff]), Buffer.from('.html')])
    await rename(page, odd)
    const command = `exec "$0" "$1" import "$(printf '%s/r\\377.html' "$2")" --out "$2/out"`
    execFileSync('sh', ['-c', command, process.execPath, bundle, dir], { stdio: 'pipe' })
    expect((await readSession(join(dir, 'out'))).rungs.length).toBeGreaterThan(0)
  })

  it('writes HTML that imports as the same session and exports as the same bytes', async () => {
    const dir = await tempDir()
    const [first, second] = [join(dir, '1.html'), join(dir, '2.html')]
    const folder = join(dir, 'imported')
    expect((await run(['report', recorded, '--format', 'html', '--out', first])).code).toBe(0)
    const imported = await run(['import', first, '--out', folder, '--json'])
    expect(imported.code).toBe(0)
    const shown = await run(['show', recorded, '--json'])
    const [a, b] = [imported, shown].map(({ stdout }) => JSON.parse(stdout) as Session)
    expect({ ...a, session: '' }).toEqual({ ...b, session: '' })
    expect((await run(['report', folder, '--format', 'html', '--out', second])).code).toBe(0)
    expect((await readFile(second)).equals(await readFile(first))).toBe(true)
    expect((await run(['import', first, '--order', 'x'])).code).toBe(2)
    expect((await run(['import', first, '--which', 'second'])).code).toBe(2)
  })

  it('draws one chart for print, and lists the available charts', async () => {
    const dir = await tempDir()
    const out = join(dir, 'throughput.svg')
    const drawn = await run(['report', recorded, '--chart', 'throughput', '--out', out])
    expect(drawn.code).toBe(0)
    expect(await readFile(out, 'utf8')).toMatch(/^<svg .*width="643"/)
    const args = ['report', recorded, '--chart', 'nope', '--out', join(dir, 'x.svg')]
    expect((await run(args)).stderr).toMatch(/no chart named "nope".*throughput.*fmaUtilization/s)
    args[3] = 'fmaUtilisation'
    expect((await run(args)).stderr).toContain('Did you mean fmaUtilization?')
    const other = await run(['report', recorded, '--chart', 'throughput', '--out', join(dir, 'x')])
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('.svg or .png')])
    expect(await readdir(dir)).toEqual(['throughput.svg'])
  })

  it('draws the same charts as the Charts screen, or explains why it cannot', async () => {
    const dir = await tempDir()
    const draw = (chart: string, file: string, session = 'recorded:gemm-fp32-h200-4096') =>
      run(['report', session, '--chart', chart, '--out', join(dir, file)])
    expect((await draw('roofline:l2', 'r.svg')).code).toBe(0)
    const svg = await readFile(join(dir, 'r.svg'), 'utf8')
    expect(svg).toMatch(/^<svg [^>]*width="643"/)
    expect(svg).toMatch(/Roofline[^]*FLOP per byte of L2 traffic/)
    expect((await draw('sweep', 's.png')).code).toBe(0)
    // The image is 170 mm wide at 300 dpi.
    const width = (await readFile(join(dir, 's.png'))).readUInt32BE(16)
    expect(Math.abs(width - 2009)).toBeLessThan(2)
    const unknown = await draw('waves:99_x', 'x.svg')
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/"99_x".*06_float4/s)])
    const without = await draw('traffic', 'x.svg', 'recorded:gemm-fp32-h200-8192')
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('standard')])
    expect((await readdir(dir)).sort()).toEqual(['r.svg', 's.png'])
  })

  it('prints at most twelve pages, and the full content on request', async () => {
    const dir = await tempDir()
    const pagesOf = async (name: string, ...more: string[]): Promise<number> => {
      const out = join(dir, name)
      const ladder = 'recorded:gemm-fp32-h200-4096'
      const { code } = await run(['report', ladder, '--format', 'pdf', '--out', out, ...more])
      expect(code).toBe(0)
      return (await readFile(out)).toString('latin1').match(/\/Type \/Page\b/g)!.length
    }
    expect(await pagesOf('usual.pdf')).toBeLessThanOrEqual(12)
    expect(await pagesOf('all.pdf', '--sections', 'all')).toBeGreaterThan(12)
  })

  it('reports what a PDF requires if there is no browser, and writes no file', async () => {
    const out = join(await tempDir(), 'report.pdf')
    const { code, stderr } = await run(['report', recorded, '--format', 'pdf', '--out', out], {
      PATH: '',
      KERNEL_LADDER_CHROMIUM: '',
      CHROME_PATH: '',
    })
    expect(code).toBe(3)
    expect(stderr).toContain('requires Chromium or Chrome, and none was found on this machine')
    expect(existsSync(out)).toBe(false)
  })

  it('shows two sessions side by side', async () => {
    const other = await session(await tempDir(), slower)
    const args = ['report', recorded, '--compare', other, '--format', 'md', '--out', '-']
    const { code, stdout } = await run([...args, '--date', '2026-11-21'])
    expect(code).toBe(0)
    expect(stdout).toContain('▼ worse')
    expect(stdout).toContain('Report of 2026-11-21.')
  })

  it.each([
    [
      ['--format', 'docx', '--out', '-'],
      /"docx" is not a report format.*html, pdf, md, csv, json, tex/s,
    ],
    [['--format', 'md', '--out', '-', '--rungs', '99_x'], /no rung named "99_x".*06_float4/s],
    [['--format', 'md', '--out', '-', '--rungs', ','], /--rungs is an empty list/],
    [['--format', 'md', '--out', '-', '--sections', 'x'], /"x" is not a section.*ladder/s],
    [
      ['--format', 'csv', '--out', '-', '--sections', 'ladder'],
      /works only with --format html, pdf, md/,
    ],
    [['--out', '-'], /--format is missing/],
    [['--format', 'md'], /--out is missing/],
    [['--format', 'md', '--wide', '--out', '-'], /--wide works only with --format csv/],
    [['--format', 'md', '--date', 'today', '--out', '-'], /--date "today" is not a date/],
    [['--format', 'md', '--out', '/nope/r.md'], /no folder \/nope/],
    [['--format', 'md', '--out', '/tmp'], /already exists/],
    [['--format', 'md', '--out', '-', '--baseline', 'recorded'], /--baseline works only with --ci/],
    [['--format', 'md', '--out', '-', '--compare', '/nope'], /is not a session/],
    [
      ['--format', 'md', '--out', '-', '--compare', 'recorded:gemm-fp32-h200-1024'],
      /problems differ/,
    ],
    [['--ci'], /--ci needs a session to compare with/],
    ...['0', '-1', '400', '3 %', '1e1', 'x'].map((word): [string[], RegExp] => [
      ['--ci', '--baseline', 'recorded', '--threshold', word],
      new RegExp(`--threshold "${word}" is not a percentage from 0.1 to 100`),
    ]),
    [['--ci', '--baseline', 'recorded', '--rungs', '99_x'], /Neither session has a rung .*"99_x"/],
    [['--ci', '--baseline', 'recorded', '--format', 'md'], /--format cannot be combined with --ci/],
  ])('%j exits with 2 and an error message', async (args, message) => {
    const { code, stdout, stderr } = await run(['report', recorded, ...args])
    expect(stderr).toMatch(message)
    expect([code, stdout]).toEqual([2, ''])
  })

  it('does not change an existing file, and leaves no partial file in an unwritable folder', async () => {
    const dir = await tempDir()
    const out = join(dir, 'mine.md')
    await writeFile(out, 'mine')
    expect((await run(['report', recorded, '--format', 'md', '--out', out])).code).toBe(2)
    expect(await readFile(out, 'utf8')).toBe('mine')
    if (process.getuid?.() !== 0) {
      const locked = join(dir, 'locked')
      await mkdir(locked, { mode: 0o500 })
      const { code, stderr } = await run([
        ...['report', recorded, '--format', 'md'],
        ...['--out', join(locked, 'r.md')],
      ])
      expect(code).toBe(2)
      expect(stderr).toMatch(/may not write there/)
      expect(await readdir(locked)).toEqual([])
    }
    expect(existsSync(out)).toBe(true)
  })
})

describe('report --ci', () => {
  const against = (now: string, baseline: string, ...more: string[]) =>
    run(['report', now, '--ci', '--baseline', baseline, ...more])

  it('prints a check, and exits with 1 if a rung became slower and with 0 otherwise', async () => {
    const dir = await tempDir()
    const same = await against(recorded, recorded)
    expect(same.code).toBe(0)
    expect(same.stdout).toMatch(/^## Kernel Ladder: no rung got more than 3 % slower/)
    const now = await session(dir, slower)
    const out = join(dir, 'ci.md')
    const worse = await against(now, recorded, '--threshold', '3', '--out', out)
    expect(worse.code).toBe(1)
    expect(worse.stdout).toMatch(/\| `06_float4` \|.*\+50\.00 % \|.*▼ slower/)
    expect(worse.stderr).toContain('1 of 16 rungs regressed')
    expect(await readFile(out, 'utf8')).toBe(worse.stdout)
    expect((await against(now, recorded, '--threshold', '60')).code).toBe(0)
    expect((await against(now, recorded, '--rungs', '07_conflict_free')).code).toBe(0)
  })

  it('exits with 2 and prints one JSON document that matches its schema if it cannot decide', async () => {
    const dir = await tempDir()
    const now = await session(dir, (value) => {
      value.rungs = value.rungs.filter(({ id }) => id !== '06_float4')
      value.rungs[1]!.timing = null
    })
    const { code, stdout, stderr } = await against(now, recorded, '--json')
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot tell')])
    const found: unknown = JSON.parse(stdout)
    expect(faultsOf('ci', found)).toEqual([])
    expect(found).toMatchObject({ schema: 'kernel-ladder/ci', verdict: 'unresolved', exitCode: 2 })
    const other = await against(recorded, 'recorded:gemm-fp32-h200-1024')
    expect([other.code, other.stdout]).toEqual([2, expect.stringContaining('The problems differ')])
  })

  it('exits with 2 and an error message if the baseline is damaged, missing, or from a newer version', async () => {
    const newer = await session(await tempDir(), (value) => Object.assign(value, { schema: 99 }))
    const damaged = await session(await tempDir(), () => undefined)
    await writeFile(join(damaged, 'session.json'), '{"schema": 1, "id":')
    for (const [baseline, why] of [
      [newer, /schema 99,.*newer kernel-ladder/],
      [damaged, /cannot be read as a session: it is not JSON/],
      ['/nope', /is not a session/],
    ] as const) {
      const plain = await against(recorded, baseline)
      expect(plain).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(why) as string })
      const { code, stdout } = await against(recorded, baseline, '--json')
      expect([code, JSON.parse(stdout)]).toEqual([2, expect.objectContaining({ schema: 1 })])
      expect(stdout).toMatch(/"kind": "input"/)
    }
  })

  it('writes the file and exits with its verdict even if stdout closes early', async () => {
    const dir = await tempDir()
    const out = join(dir, 'ci.md')
    const args = ['report', await session(dir, slower), '--ci', '--baseline', recorded]
    const child = spawn(process.execPath, [bundle, ...args, '--out', out], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    child.stdout.destroy()
    expect(await new Promise((done) => child.on('close', done))).toBe(1)
    expect(await readFile(out, 'utf8')).toContain('▼ slower')
  })
})
