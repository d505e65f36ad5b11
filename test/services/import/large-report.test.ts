import { open, writeFile } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fileSource } from '../../../src-main/adapters/disk/file-source'
import { parseNcuRep } from '../../../src-main/parsers/ncu/ncu-rep'
import { importReport } from '../../../src-main/services/import/import-ncu'
import { ncuReport, rangesReport } from '../../captures'
import { blockBytes, takeApart } from '../../parsers/ncu/made-reports'
import { said } from '../../support'
import { tempDir } from '../support'

const base = ncuReport('launches-two-rungs')

/**
 * Writes a report of `count` launches in blocks of 100. Each launch is a copy of a launch in a real
 * report.
 */
async function writeLarge(path: string, count: number): Promise<void> {
  const { start, blocks } = takeApart(base)
  const results = blocks.flatMap((block) => block.results)
  const { header } = blocks.at(-1)!
  const file = await open(path, 'w')
  await file.write(start)
  for (const block of blocks) await file.write(blockBytes({ ...block, results: [] }))
  const hundred = blockBytes({
    header,
    sources: [],
    results: Array.from({ length: 100 }, (_, n) => results[n % results.length]!),
  })
  for (let n = 0; n < count; n += 100) await file.write(hundred)
  await file.close()
}

const imported = async (file: string, dir: string) =>
  importReport(file, { store: join(dir, 'store'), appVersion: '0.0.0' })

it('2,000 kernels are read one by one, with a warning that lists the imported kernels', async () => {
  const dir = await tempDir()
  const file = join(dir, 'large.ncu-rep')
  await writeLarge(file, 2_000)
  const { session } = await imported(file, dir)
  expect(session.rungs).toHaveLength(500)
  const words = said(session.warnings).join(' ')
  expect(words).toContain('large.ncu-rep contains 2000 launches; the first 500 were imported.')
  // The report has 2,000 launches that alternate between 434, 401 and 5.8 µs. The first 500
  // launches are imported.
  expect(words).toMatch(/The imported launches took 1\d\d ms of 5\d\d ms \(25 %\) under ncu\./)

  const source = fileSource(file)
  let [reads, largest] = [0, 0]
  parseNcuRep(
    {
      size: source.size,
      read(at, length) {
        reads += 1
        largest = Math.max(largest, length)
        return source.read(at, length)
      },
    },
    () => false,
  )
  expect(source.size).toBeGreaterThan(32e6)
  expect(reads).toBeGreaterThan(2_000)
  expect(largest).toBeLessThan(20_000)
})

const hasZstd = (() => {
  try {
    execFileSync('zstd', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

it.skipIf(!hasZstd)('a .ncu-repz is imported as the report that it contains', async () => {
  const dir = await tempDir()
  const [plain, packed] = [join(dir, 'own.ncu-rep'), join(dir, 'own.ncu-repz')]
  await writeFile(plain, base)
  execFileSync('zstd', ['-q', '-19', plain, '-o', packed])
  const [expected, { session }] = [await imported(plain, dir), await imported(packed, dir)]
  expect(session.ladder.title).toBe('own')
  expect(session.rungs.map(({ ncuMetrics }) => ncuMetrics)).toEqual(
    expected.session.rungs.map(({ ncuMetrics }) => ncuMetrics),
  )
  expect(JSON.stringify(session)).not.toContain('kernel-ladder-report-')
})

/** Returns one frame of uncompressed blocks, which every zstd decoder can read. */
function framed(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0x58)]
  const most = 30_000
  for (let at = 0; at < bytes.length; at += most) {
    const block = bytes.subarray(at, at + most)
    const head = (block.length << 3) | Number(at + most >= bytes.length)
    parts.push(Uint8Array.of(head & 255, (head >> 8) & 255, head >> 16), block)
  }
  return new Uint8Array(Buffer.concat(parts))
}

it('an import of a truncated .ncu-repz contains the launches before the cut, and a note', async () => {
  const dir = await tempDir()
  const file = join(dir, 'cut.ncu-repz')
  const whole = framed(base)
  await writeFile(file, whole)
  expect((await imported(file, dir)).session.rungs).toHaveLength(3)
  await writeFile(file, whole.subarray(0, 6 + 3 * (3 + 30_000) + 20))
  const { session } = await imported(file, dir)
  expect(session.rungs).toHaveLength(1)
  expect(said(session.warnings).join(' ')).toMatch(/cut\.ncu-repz is damaged or truncated/)
  await writeFile(file, whole.subarray(0, 8))
  await expect(imported(file, dir)).rejects.toThrow('cut.ncu-repz is damaged or truncated')
})

it('a report of whole ranges has a note instead of counters per kernel', async () => {
  const dir = await tempDir()
  const [range, graph] = [join(dir, 'range.ncu-rep'), join(dir, 'graph.ncu-rep')]
  await writeFile(range, rangesReport('range-whole'))
  await expect(imported(range, dir)).rejects.toMatchObject({
    message: expect.stringMatching(/1 result is for a whole range or graph/),
    kind: 'input',
  })
  await writeFile(graph, rangesReport('graph-whole'))
  const { session } = await imported(graph, dir)
  expect(session.rungs.map(({ title }) => title)).toEqual(['add'])
  expect(said(session.warnings).join(' ')).toContain('has no counters per kernel')
})

it('a report from an untested ncu version has a note', async () => {
  const dir = await tempDir()
  const file = join(dir, 'newer.ncu-rep')
  const text = Buffer.from(base).toString('latin1')
  await writeFile(file, Buffer.from(text.replaceAll('2025.3.1.0', '2031.9.7.5'), 'latin1'))
  const { session } = await imported(file, dir)
  expect(session.rungs).toHaveLength(3)
  expect(said(session.warnings)).toContain(
    'ncu 2031.9.7.5 wrote this report. Its values were checked only with reports from ncu versions up to 2025.3.',
  )
})
