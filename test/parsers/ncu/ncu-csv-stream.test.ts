import { describe, expect, it } from 'vitest'
import { parseNcuRawCsv, type NcuLaunch } from '../../../src-main/parsers/ncu/ncu-csv'
import { readNcuCsv } from '../../../src-main/parsers/ncu/ncu-csv-stream'
import { parseRules } from '../../../src-main/parsers/ncu/ncu-rules'
import { ncuCapture } from '../captures'
import { said } from '../../said'

const twoRungs = ncuCapture('launches-two-rungs')
const details = ncuCapture('import-details')
const full = ncuCapture('import-set-full')

async function* pieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size)
    yield await Promise.resolve(text.slice(at, at + size))
}
/** All launches, or the first `most`. */
async function read(text: string, size = 1000, most = Infinity) {
  const launches: NcuLaunch[] = []
  const result = await readNcuCsv(pieces(text, size), (launch) => launches.push(launch) < most)
  return { launches, ...result }
}

describe('the raw page in pieces', () => {
  it.each([7, 1000, 1 << 20])('of %i characters reads as in one', async (size) => {
    const whole = parseNcuRawCsv(twoRungs)
    const { launches, total, messages, notes, page } = await read(twoRungs, size)
    expect({ launches, messages, notes }).toEqual(whole)
    expect({ total, page }).toEqual({ total: 3, page: 'raw' })
  })

  it('of any width', async () => {
    expect((await read(full)).launches).toEqual(parseNcuRawCsv(full).launches)
  })

  it('hands out the launches that are wanted and counts the others', async () => {
    const { launches, total } = await read(twoRungs, 1000, 2)
    expect([launches.length, total]).toEqual([2, 3])
  })

  it('that ends in a row gives the whole rows and a note', async () => {
    const { launches, notes } = await read(twoRungs.trimEnd().slice(0, -100))
    expect(launches).toHaveLength(2)
    expect(said(notes)).toEqual([expect.stringMatching(/^A row cannot be read: .*2/)])
  })

  it('of two runs in one file gives the launches of both', async () => {
    const { launches, notes } = await read(`${twoRungs}\n${ncuCapture('no-nvtx')}`)
    expect(launches).toHaveLength(7)
    expect(notes).toEqual([])
  })

  it('without a table has no launch', async () => {
    expect(await read('one\ntwo,three\n')).toMatchObject({ launches: [], total: 0, notes: [] })
  })

  it('saved by a spreadsheet, without quotes and with semicolons', async () => {
    const table = [
      'ID;Process ID;Kernel Name;Block Size;Grid Size;Device;CC;gpu__time_duration.sum;launch__waves_per_multiprocessor',
      ';;;;;;;ns;',
      '0;7;tile(float *);(32, 8, 1);(4, 4, 1);0;9.0;1.234.567,5;0,5',
      '',
    ].join('\n')
    const { launches } = await read(table)
    expect(launches[0]).toMatchObject({
      kernelName: 'tile(float *)',
      block: [32, 8, 1],
      metrics: {
        'gpu__time_duration.sum': { value: 1234567.5, unit: 'ns' },
        launch__waves_per_multiprocessor: { value: 0.5 },
      },
    })
  })

  it('is refused where a line has no end', async () => {
    await expect(read('x'.repeat(34 * 2 ** 20), 2 ** 20)).rejects.toMatchObject({ kind: 'input' })
  })
})

describe('the signs of a locale', () => {
  const value = async (text: string, name: string) => {
    const { launches } = await read(text)
    return launches[0]!.metrics[name]?.value
  }
  const fma = 'sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active'
  // The captured table as other locales would print it: each number in the cells of a launch.
  const localized = (group: string, decimal: string): string =>
    twoRungs.replaceAll(/"(\d+)(\.\d\d)?"(?=[,\n])/g, (_, whole: string, rest = '') => {
      const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group)
      return `"${grouped}${rest.replace('.', decimal)}"`
    })

  it.each([
    ['English', ',', '.'],
    ['German', '.', ','],
    ['French', '\u202f', ','],
    ['Swiss', '’', '.'],
  ])('%s', async (_, group, decimal) => {
    const text = localized(group, decimal)
    expect(text).not.toBe(twoRungs)
    expect(await value(text, 'gpu__time_duration.sum')).toBe(434208)
    expect(await value(text, fma)).toBe(8.65)
    expect(await value(text, 'smsp__inst_executed_op_shared_ld.sum')).toBe(67108864)
  })

  it('that change within the table end the import', async () => {
    const lines = localized('.', ',').trimEnd().split('\n')
    const mixed = [...lines.slice(0, -1), twoRungs.trimEnd().split('\n').at(-1)].join('\n')
    await expect(read(mixed)).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringContaining('mixes decimal commas and decimal points'),
    })
  })
})

describe('the details page', () => {
  it('gives a launch its metrics by label, and by name where the label stands for one', async () => {
    const { page, launches, total, notes } = await read(details)
    expect(page).toBe('details')
    expect(total).toBe(3)
    expect(launches.map(({ rung }) => rung)).toEqual(['03_a', '04_b', '04_b'])
    expect(launches[0]!.metrics['GPU Speed Of Light Throughput: Elapsed Cycles']).toEqual({
      value: 860433,
      unit: 'cycle',
    })
    expect(notes).toEqual([])
  })

  it('gives a launch ncu’s advice, as the whole page read at once does', async () => {
    const { launches } = await read(details)
    const rules = parseRules(details)
    expect(launches.map((launch) => launch.rules)).toEqual([0, 1, 2].map((id) => rules.get(id)))
    expect(rules.get(0)!.length).toBeGreaterThan(5)
    expect((await read(full)).launches[0]).not.toHaveProperty('rules')
  })

  it('agrees with the raw page of the same report where it names a metric', async () => {
    const [own, raw] = [(await read(details)).launches, (await read(full)).launches]
    for (const name of [
      'gpu__time_duration.sum',
      'launch__registers_per_thread',
      'sm__maximum_warps_per_active_cycle_pct',
      'sm__warps_active.avg.pct_of_peak_sustained_active',
      'launch__waves_per_multiprocessor',
    ])
      for (const index of [0, 1, 2])
        expect(own[index]!.metrics[name]!.value, name).toBe(raw[index]!.metrics[name]!.value)
  })

  it('has a metric that was asked for by name under that name, in its base unit', async () => {
    const own = '"0","7","a","127.0.0.1","branch()","1","7","(256, 1, 1)","(1024, 1, 1)","0","7.5"'
    const row = (name: string, unit: string, value: string) =>
      `${own},"Command line profiler metrics","${name}","${unit}","${value}"`
    const { launches } = await read(
      [
        '==PROF== Connected to process 7 (a)',
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"',
        row('dram__bytes_read.sum', 'Kbyte', '2,816'),
        row('gpu__time_duration.sum', 'usecond', '12.45'),
        row('sm__warps_active.avg.pct_of_peak_sustained_active', '%', 'n/a'),
        '',
      ].join('\n'),
    )
    expect(launches[0]!.metrics).toEqual({
      'dram__bytes_read.sum': { value: 2816000, unit: 'byte' },
      'gpu__time_duration.sum': { value: 12450, unit: 'ns' },
      'sm__warps_active.avg.pct_of_peak_sustained_active': { value: null, unit: '%' },
    })
  })

  it('hands out the launches that are wanted', async () => {
    const { launches, total } = await read(details, 1000, 1)
    expect([launches.length, total]).toEqual([1, 3])
  })
})
