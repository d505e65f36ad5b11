import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rangeGroups } from '../../../src-main/domain/programs/range-groups'
import { sessionText } from '../../../src-main/hosts/cli/describe/describe-static'
import { importReport } from '../../../src-main/services/import/import-ncu'
import { scrubber } from '../../../src-main/services/report/scrub'
import { buildReport } from '../../../src-main/services/report/model'
import { ladderTable } from '../../../src-main/services/report/tables'
import { noPrivates } from '../report/samples'
import { ladderRows } from '../../../src-renderer/features/ladder/ladder-rows'
import { ncuReport } from '../../captures'
import { madeReport, type MadeLaunch } from '../../parsers/ncu/made-reports'
import { tempDir } from '../support'

// The captured launches are tile_kernel<32> (434 µs), tile_kernel<16> (401 µs), and scale (5.8 µs).
const [tile32, tile16, scale] = [0, 1, 2]
const pushed = (...names: string[]): MadeLaunch['ranges'] => ({
  pushed: { 466: names.map((name, index) => [name, index + 1]) },
})

async function imported(launches: MadeLaunch[]) {
  const dir = await tempDir()
  const file = join(dir, 'ranges.ncu-rep')
  await writeFile(file, madeReport(ncuReport('launches-two-rungs'), launches))
  const { session } = await importReport(file, { store: join(dir, 'store'), appVersion: '0.0.0' })
  return session
}

const nestedRanges: MadeLaunch[] = [
  { of: scale, ranges: {} },
  { of: scale, ranges: pushed('step') },
  { of: tile16, ranges: pushed('step', 'attention') },
  { of: tile32, ranges: pushed('step', 'attention') },
  { of: tile16, ranges: { started: [['epoch', 1]], ...pushed() } },
  { of: tile32, ranges: pushed('step') },
]

it('kernels are grouped by range, with the longest range first, and keep their own counters', async () => {
  const session = await imported(nestedRanges)
  const groups = rangeGroups(session)!
  expect(groups.map(({ title, rungs }) => [title, rungs.map(({ title: own }) => own)])).toEqual([
    ['step › attention', ['tile_kernel<32> #1', 'tile_kernel<16> #1']],
    ['step', ['tile_kernel<32> #2', 'scale #2']],
    ['epoch', ['tile_kernel<16> #2']],
    [null, ['scale #1']],
  ])
  for (const { rungs, totalMs } of groups) {
    expect(totalMs).toBeCloseTo(
      rungs.reduce((sum, { profiledTime }) => sum + profiledTime!.totalMs, 0),
      9,
    )
    for (const { metrics, profile, ncuMetrics } of rungs) {
      expect(profile!.kernels).toHaveLength(1)
      const theoretical = ncuMetrics!['sm__maximum_warps_per_active_cycle_pct']!.value as number
      const achieved = ncuMetrics!['sm__warps_active.avg.pct_of_peak_sustained_active']!.value
      expect(metrics.theoreticalOccupancy!.value).toBe(theoretical)
      expect(metrics.achievedOccupancy!.value).toBe(achieved)
      expect(achieved).toBeLessThanOrEqual(theoretical)
    }
  }
})

it('the table has one line per range with its time, but no counters for the range', async () => {
  const text = sessionText(await imported(nestedRanges))
  const lines = text.split('\n').slice(1, 12)
  expect(lines.map((line) => /^\S+( \S+)*/.exec(line)![0])).toEqual([
    'id',
    '[step › attention]',
    '03_tile_kernel',
    '02_tile_kernel',
    '[step]',
    '05_tile_kernel',
    '01_scale',
    '[epoch]',
    '04_tile_kernel',
    '[outside any range]',
    '00_scale',
  ])
  expect(lines[1]).toMatch(/^\[step › attention\]\s+2 kernels\s+\d+ µs\s+\d+ %$/)
  expect(text).toContain('6 kernels, ')
})

it('the rows on the screen are in the order of the table, and each has its range', async () => {
  const rows = ladderRows(await imported(nestedRanges))
  expect(rows.map(({ rung, range }) => [rung.id, range?.title])).toEqual([
    ['03_tile_kernel', 'step › attention'],
    ['02_tile_kernel', 'step › attention'],
    ['05_tile_kernel', 'step'],
    ['01_scale', 'step'],
    ['04_tile_kernel', 'epoch'],
    ['00_scale', null],
  ])
  expect(rows.map(({ number }) => number)).toEqual(['03', '02', '05', '01', '04', '00'])
})

it('a report without ranges has no groups', async () => {
  const session = await imported([{ of: scale, ranges: {} }])
  expect(rangeGroups(session)).toBeNull()
  expect(sessionText(session)).not.toContain('[')
})

it("a printed report lists kernels by range, with the range's name", async () => {
  const session = await imported(nestedRanges)
  const { rows, columns } = ladderTable(
    buildReport({ session, sources: {}, scrub: scrubber(noPrivates), sections: [], date: null }),
  )
  expect(columns.map(({ text }) => text).slice(0, 4)).toEqual([
    'Rung',
    'What',
    'NVTX range',
    'Status',
  ])
  expect(rows.map((cells) => cells.slice(1, 3).map(({ text }) => text))[0]).toEqual([
    'tile_kernel<32> #1',
    'step › attention',
  ])
})
