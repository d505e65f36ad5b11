/** Tests the parser for ncu's CSV tables, both for complete texts and for streams. */
import { describe, expect, it } from 'vitest'
import { type NcuLaunch, parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { ncuCapture } from '../../captures'
import { said, saying } from '../../support'
import { readNcuCsv } from '../../../src-main/parsers/ncu/ncu-csv-stream'
import { parseRules } from '../../../src-main/parsers/ncu/ncu-advice'

describe('whole tables', () => {
  const twoRungs = ncuCapture('launches-two-rungs')
  const lines = twoRungs.trimEnd().split('\n')
  const headerAt = lines.findIndex((line) => line.startsWith('"ID"'))
  const metric = (text: string, launch: number, name: string) =>
    parseNcuRawCsv(text).launches[launch]?.metrics[name]

  describe('the raw page of a program that also prints', () => {
    const { launches, messages, notes } = parseNcuRawCsv(twoRungs)

    it('yields one launch per row, with its kernel, extents, device, and passes', () => {
      expect(launches.map(({ metrics: _, ...launch }) => launch)).toEqual([
        {
          id: 0,
          processId: 466,
          kernelName: 'void tile_kernel<32>(const float *, const float *, float *, int)',
          ranges: ['03_a'],
          rung: '03_a',
          grid: [32, 32, 1],
          block: [32, 32, 1],
          passes: 4,
          device: 0,
          computeCapability: '9.0',
        },
        {
          id: 1,
          processId: 466,
          kernelName: 'void tile_kernel<16>(const float *, const float *, float *, int)',
          ranges: ['04_b'],
          rung: '04_b',
          grid: [64, 64, 1],
          block: [16, 16, 1],
          passes: 4,
          device: 0,
          computeCapability: '9.0',
        },
        {
          id: 2,
          processId: 466,
          kernelName: 'scale(float *, int)',
          ranges: ['04_b'],
          rung: '04_b',
          grid: [4096, 1, 1],
          block: [256, 1, 1],
          passes: 4,
          device: 0,
          computeCapability: '9.0',
        },
      ])
    })

    it('yields every metric with its name, unit, and value, even a measured zero', () => {
      const first = launches[0]!.metrics
      expect(first['gpu__time_duration.sum']).toEqual({ value: 434208, unit: 'ns' })
      expect(first['smsp__inst_executed_op_shared_ld.sum']).toEqual({
        value: 67108864,
        unit: 'inst',
      })
      expect(first['sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active']).toEqual({
        value: 8.65,
        unit: '%',
      })
      expect(first.launch__cluster_scheduling_policy).toEqual({ value: 'PolicySpread', unit: '' })
      expect(launches[2]!.metrics['smsp__inst_executed_op_shared_ld.sum']?.value).toBe(0)
      expect(first).not.toHaveProperty('Kernel Name')
    })

    it("yields ncu's messages without notes about problems", () => {
      expect(messages.map(({ level, text }) => `${level}: ${text.slice(0, 40)}`)).toEqual([
        'warning: Note: Running with unmodified GPU clocks',
        'info: Connected to process 466 (./probe)',
        'info: Disconnected from process 466',
        'info: Report: ./rep1.ncu-rep',
      ])
      expect(notes).toEqual([])
    })
  })

  describe('the table is found', () => {
    const { launches } = parseNcuRawCsv(twoRungs)

    it('with other output before it, after it, and between its rows', () => {
      const chatty = [
        ...lines.slice(0, headerAt + 2),
        'a library says something',
        ...lines.slice(headerAt + 2),
        '{"event":"done"}',
        '',
      ].join('\n')
      expect(parseNcuRawCsv(chatty)).toMatchObject({ launches, notes: [] })
    })

    it('after an unterminated line of program output', () => {
      const joined = lines.with(headerAt, `no line end${lines[headerAt]}`).join('\n')
      expect(parseNcuRawCsv(joined).launches).toEqual(launches)
    })

    it('with Windows line endings and a byte-order mark', () => {
      const table = lines.slice(headerAt).join('\r\n')
      expect(parseNcuRawCsv(`\uFEFF${table}\r\n`).launches).toEqual(launches)
    })

    it('without a row of units, which leaves the values without units', () => {
      const bare = lines.toSpliced(headerAt + 1, 1).join('\n')
      expect(parseNcuRawCsv(bare).launches).toHaveLength(3)
      expect(metric(bare, 0, 'gpu__time_duration.sum')).toEqual({ value: 434208, unit: '' })
    })

    it('only if ncu profiled kernels', () => {
      expect(parseNcuRawCsv(ncuCapture('no-kernels')).launches).toEqual([])
      expect(parseNcuRawCsv('')).toEqual({ launches: [], messages: [], notes: [] })
    })
  })

  describe("a launch's rung", () => {
    const cell = '""<default domain>:03_a:none:none:none:none:none:none""'
    const withRanges = (ranges: string) => parseNcuRawCsv(twoRungs.replace(cell, ranges))

    it('is null if ncu ran without --nvtx, so that the range columns are missing', () => {
      const { launches } = parseNcuRawCsv(ncuCapture('no-nvtx'))
      expect(launches.map(({ rung }) => rung)).toEqual(Array(launches.length).fill(null))
      expect(launches.length).toBeGreaterThan(0)
    })

    it('is null for a launch outside any range', () => {
      expect(withRanges('').launches[0]?.rung).toBeNull()
    })

    // The cell is from the capture, but with added ranges.
    it('is the name of the innermost range', () => {
      const inner = cell.replace('03_a', '03_inner')
      expect(withRanges(`${cell} ${inner}`).launches[0]?.rung).toBe('03_inner')
    })

    it('may have colons in its name', () => {
      expect(withRanges(cell.replace('03_a', 'a::b')).launches[0]?.rung).toBe('a::b')
    })

    it('is never taken from a range that a library pushed in its own domain', () => {
      const library = '""CCCL:cub::DeviceReduce::Reduce:none:none:none:none:REGISTERED:x""'
      expect(withRanges(`${cell}  ${library}`).launches[0]?.rung).toBe('03_a')
    })
  })

  describe('figures', () => {
    it('that ncu could not compute are null, not zero', () => {
      const full = ncuCapture('import-set-full')
      expect(metric(full, 0, 'derived_tempMetric4')?.value).toBeNull() // nan
      expect(metric(full, 0, 'sass__inst_executed_register_spilling_mem_local')?.value).toBeNull() // no data
      expect(
        metric(full, 0, 'LTS.TriageCompute.lts__throughput.avg.pct_of_peak_sustained_elapsed'),
      ).toEqual({
        value: null,
        unit: '%',
      })
      expect(parseNcuRawCsv(full).launches.map(({ passes }) => passes)).toEqual([38, 38, 38])
    })

    // The table is from the capture, but its values are scaled as with --print-units auto.
    it('in a scaled unit are converted to the base unit', () => {
      const scaled = twoRungs
        .replaceAll('"ns"', '"us"')
        .replaceAll('"434208"', '"434.21"')
        .replaceAll('"67108864"', '"67,108,864"')
      expect(metric(scaled, 0, 'gpu__time_duration.sum')).toEqual({ value: 434210, unit: 'ns' })
      expect(metric(scaled, 0, 'smsp__inst_executed_op_shared_ld.sum')?.value).toBe(67108864)
    })

    it('with a decimal comma are rejected with a remedy', () => {
      expect(() => parseNcuRawCsv(twoRungs.replaceAll('"8.65"', '"8,65"'))).toThrow(
        expect.objectContaining({
          kind: 'input',
          message: expect.stringMatching(/sm__pipe_fma.* as 8,65.*decimal comma/),
          remedy: saying('LC_ALL=C'),
        }),
      )
    })
  })

  describe('a truncated or damaged table', () => {
    it('that ends in its last row yields the complete rows and a note', () => {
      const cut = twoRungs.trimEnd().slice(0, -100)
      const { launches, notes } = parseNcuRawCsv(cut)
      expect(launches.map(({ id }) => id)).toEqual([0, 1])
      expect(said(notes)).toEqual([expect.stringMatching(/ends in the middle of a row.*\\"2\\"/)])
    })

    it('that ends between two cells of its last row yields the complete rows and a note', () => {
      const text = twoRungs.trimEnd()
      const cut = text.slice(0, text.lastIndexOf(',"'))
      const { launches, notes } = parseNcuRawCsv(cut)
      expect(launches.map(({ id }) => id)).toEqual([0, 1])
      expect(said(notes)).toEqual([expect.stringMatching(/row .*cannot be read: "2,466"/)])
    })

    it('with an out-of-range grid extent in the first launch still yields the other launches', () => {
      const { launches, notes } = parseNcuRawCsv(
        twoRungs.replace('"(32, 32, 1)"', `"(${'9'.repeat(400)}, 32, 1)"`),
      )
      expect(launches.map(({ id }) => id)).not.toContain(0)
      expect(said(notes)).toEqual([expect.stringMatching(/row .*cannot be read: "0,466"/)])
    })

    it('that ends in its header yields a note and no launches', () => {
      const { launches, notes } = parseNcuRawCsv(lines[headerAt]!.slice(0, 2000))
      expect(launches).toEqual([])
      expect(said(notes)).toEqual([expect.stringContaining('middle of its header')])
    })
  })

  it("ncu's details page is rejected, with the raw-page command as the remedy", () => {
    const details =
      '"ID","Process ID","Process Name","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","1","p","k","Duration","ns","5"\n'
    expect(() => parseNcuRawCsv(details)).toThrow(
      expect.objectContaining({ remedy: saying('--page raw') }),
    )
  })
})

describe('streams', () => {
  const twoRungs = ncuCapture('launches-two-rungs')
  const details = ncuCapture('import-details')
  const full = ncuCapture('import-set-full')

  async function* pieces(text: string, size: number): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += size)
      yield await Promise.resolve(text.slice(at, at + size))
  }
  /** Reads all launches, or only the first `most` launches. */
  async function read(text: string, size = 1000, most = Infinity) {
    const launches: NcuLaunch[] = []
    const result = await readNcuCsv(pieces(text, size), (launch) => launches.push(launch) < most)
    return { launches, ...result }
  }

  describe('the raw page in pieces', () => {
    it.each([7, 1000, 1 << 20])('of %i characters is parsed like the whole page', async (size) => {
      const whole = parseNcuRawCsv(twoRungs)
      const { launches, total, messages, notes, page } = await read(twoRungs, size)
      expect({ launches, messages, notes }).toEqual(whole)
      expect({ total, page }).toEqual({ total: 3, page: 'raw' })
    })

    it('with the full set of metrics yields the same launches as the whole page', async () => {
      expect((await read(full)).launches).toEqual(parseNcuRawCsv(full).launches)
    })

    it('yields only the requested launches but counts every launch', async () => {
      const { launches, total } = await read(twoRungs, 1000, 2)
      expect([launches.length, total]).toEqual([2, 3])
    })

    it('that ends within a row yields the complete rows and a note', async () => {
      const { launches, notes } = await read(twoRungs.trimEnd().slice(0, -100))
      expect(launches).toHaveLength(2)
      expect(said(notes)).toEqual([expect.stringMatching(/^A row cannot be read: .*2/)])
    })

    it('of two runs in one file yields the launches of both runs', async () => {
      const { launches, notes } = await read(`${twoRungs}\n${ncuCapture('no-nvtx')}`)
      expect(launches).toHaveLength(7)
      expect(notes).toEqual([])
    })

    it('without a table yields no launches', async () => {
      expect(await read('one\ntwo,three\n')).toMatchObject({ launches: [], total: 0, notes: [] })
    })

    it('saved by a spreadsheet may have semicolons and decimal commas but no quotes', async () => {
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

    it('is rejected if a line never ends', async () => {
      await expect(read('x'.repeat(34 * 2 ** 20), 2 ** 20)).rejects.toMatchObject({ kind: 'input' })
    })
  })

  describe("a locale's number format", () => {
    const value = async (text: string, name: string) => {
      const { launches } = await read(text)
      return launches[0]!.metrics[name]?.value
    }
    const fma = 'sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active'
    // Returns the captured table in another locale's number format.
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
    ])('with %s separators is recognized', async (_, group, decimal) => {
      const text = localized(group, decimal)
      expect(text).not.toBe(twoRungs)
      expect(await value(text, 'gpu__time_duration.sum')).toBe(434208)
      expect(await value(text, fma)).toBe(8.65)
      expect(await value(text, 'smsp__inst_executed_op_shared_ld.sum')).toBe(67108864)
    })

    it('that changes within the table stops the import', async () => {
      const lines = localized('.', ',').trimEnd().split('\n')
      const mixed = [...lines.slice(0, -1), twoRungs.trimEnd().split('\n').at(-1)].join('\n')
      await expect(read(mixed)).rejects.toMatchObject({
        kind: 'input',
        message: expect.stringContaining('mixes decimal commas and decimal points'),
      })
    })
  })

  describe('the details page', () => {
    it('identifies a metric by section and label, or by name if the label maps to one', async () => {
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

    it('yields the same recommendations as a stream and as a whole', async () => {
      const { launches } = await read(details)
      const rules = parseRules(details)
      expect(launches.map((launch) => launch.rules)).toEqual([0, 1, 2].map((id) => rules.get(id)))
      expect(rules.get(0)!.length).toBeGreaterThan(5)
      expect((await read(full)).launches[0]).not.toHaveProperty('rules')
    })

    it('agrees with the raw page of the same report for metrics on both pages', async () => {
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

    it('lists metrics that were requested by name under those names, in base units', async () => {
      const own =
        '"0","7","a","127.0.0.1","branch()","1","7","(256, 1, 1)","(1024, 1, 1)","0","7.5"'
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

    it('yields only the requested launches', async () => {
      const { launches, total } = await read(details, 1000, 1)
      expect([launches.length, total]).toEqual([1, 3])
    })
  })
})
