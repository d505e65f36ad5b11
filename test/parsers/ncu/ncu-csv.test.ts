import { describe, expect, it } from 'vitest'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { ncuCapture } from '../captures'
import { said, saying } from '../../said'

const twoRungs = ncuCapture('launches-two-rungs')
const lines = twoRungs.trimEnd().split('\n')
const headerAt = lines.findIndex((line) => line.startsWith('"ID"'))
const metric = (text: string, launch: number, name: string) =>
  parseNcuRawCsv(text).launches[launch]?.metrics[name]

describe('ncu -o REPORT --csv --page raw over a program that speaks too', () => {
  const { launches, messages, notes } = parseNcuRawCsv(twoRungs)

  it('gives a launch a row, with its kernel, extents, device and passes', () => {
    expect(launches.map(({ metrics: _, ...launch }) => launch)).toEqual([
      {
        id: 0,
        processId: 466,
        kernelName: 'void tile_kernel<32>(const float *, const float *, float *, int)',
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
        rung: '04_b',
        grid: [4096, 1, 1],
        block: [256, 1, 1],
        passes: 4,
        device: 0,
        computeCapability: '9.0',
      },
    ])
  })

  it('gives every metric under its own name with its unit, a measured zero as 0', () => {
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

  it('gives what ncu said, and finds nothing wrong', () => {
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

  it('between other lines, before and after it and between its rows', () => {
    const chatty = [
      ...lines.slice(0, headerAt + 2),
      'a library says something',
      ...lines.slice(headerAt + 2),
      '{"event":"done"}',
      '',
    ].join('\n')
    expect(parseNcuRawCsv(chatty)).toMatchObject({ launches, notes: [] })
  })

  it('behind a line that the program did not end', () => {
    const joined = lines.with(headerAt, `no line end${lines[headerAt]}`).join('\n')
    expect(parseNcuRawCsv(joined).launches).toEqual(launches)
  })

  it('with the line ends of Windows and a byte-order mark', () => {
    const table = lines.slice(headerAt).join('\r\n')
    expect(parseNcuRawCsv(`\uFEFF${table}\r\n`).launches).toEqual(launches)
  })

  it('without a row of units, the values then having none', () => {
    const bare = lines.toSpliced(headerAt + 1, 1).join('\n')
    expect(parseNcuRawCsv(bare).launches).toHaveLength(3)
    expect(metric(bare, 0, 'gpu__time_duration.sum')).toEqual({ value: 434208, unit: '' })
  })

  it('nowhere when ncu profiled nothing', () => {
    expect(parseNcuRawCsv(ncuCapture('no-kernels')).launches).toEqual([])
    expect(parseNcuRawCsv('')).toEqual({ launches: [], messages: [], notes: [] })
  })
})

describe('the rung of a launch', () => {
  const cell = '""<default domain>:03_a:none:none:none:none:none:none""'
  const withRanges = (ranges: string) => parseNcuRawCsv(twoRungs.replace(cell, ranges))

  it('is null when ncu ran without --nvtx, which leaves the columns out', () => {
    const { launches } = parseNcuRawCsv(ncuCapture('no-nvtx'))
    expect(launches.map(({ rung }) => rung)).toEqual(Array(launches.length).fill(null))
    expect(launches.length).toBeGreaterThan(0)
  })

  it('is null for a launch outside of any range', () => {
    expect(withRanges('').launches[0]?.rung).toBeNull()
  })

  // The captured cell, with more ranges put into it.
  it('is the innermost range', () => {
    const inner = cell.replace('03_a', '03_inner')
    expect(withRanges(`${cell} ${inner}`).launches[0]?.rung).toBe('03_inner')
  })

  it('may have colons in its name', () => {
    expect(withRanges(cell.replace('03_a', 'a::b')).launches[0]?.rung).toBe('a::b')
  })

  it('is not a range that a library pushed in a domain of its own', () => {
    const library = '""CCCL:cub::DeviceReduce::Reduce:none:none:none:none:REGISTERED:x""'
    expect(withRanges(`${cell}  ${library}`).launches[0]?.rung).toBe('03_a')
  })
})

describe('figures', () => {
  it('that ncu could not form are null, and are not zero', () => {
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

  // The captured table as --print-units auto would scale the duration.
  it('in a scaled unit come out in the base unit', () => {
    const scaled = twoRungs
      .replaceAll('"ns"', '"us"')
      .replaceAll('"434208"', '"434.21"')
      .replaceAll('"67108864"', '"67,108,864"')
    expect(metric(scaled, 0, 'gpu__time_duration.sum')).toEqual({ value: 434210, unit: 'ns' })
    expect(metric(scaled, 0, 'smsp__inst_executed_op_shared_ld.sum')?.value).toBe(67108864)
  })

  it('with a decimal comma are refused, with the remedy', () => {
    expect(() => parseNcuRawCsv(twoRungs.replaceAll('"8.65"', '"8,65"'))).toThrow(
      expect.objectContaining({
        kind: 'input',
        message: expect.stringMatching(/sm__pipe_fma.* as 8,65.*decimal comma/),
        remedy: saying('LC_ALL=C'),
      }),
    )
  })
})

describe('a table that is cut off', () => {
  it('in its last row gives the whole rows and says that one is missing', () => {
    const cut = twoRungs.trimEnd().slice(0, -100)
    const { launches, notes } = parseNcuRawCsv(cut)
    expect(launches.map(({ id }) => id)).toEqual([0, 1])
    expect(said(notes)).toEqual([expect.stringMatching(/ends in the middle of a row.*\\"2\\"/)])
  })

  it('exactly between two cells of its last row gives the same', () => {
    const text = twoRungs.trimEnd()
    const cut = text.slice(0, text.lastIndexOf(',"'))
    const { launches, notes } = parseNcuRawCsv(cut)
    expect(launches.map(({ id }) => id)).toEqual([0, 1])
    expect(said(notes)).toEqual([expect.stringMatching(/row .*cannot be read: "2,466"/)])
  })

  it('does not take a grid that no number holds', () => {
    const { launches, notes } = parseNcuRawCsv(
      twoRungs.replace('"(32, 32, 1)"', `"(${'9'.repeat(400)}, 32, 1)"`),
    )
    expect(launches.map(({ id }) => id)).not.toContain(0)
    expect(said(notes)).toEqual([expect.stringMatching(/row .*cannot be read: "0,466"/)])
  })

  it('in its header gives nothing and says so', () => {
    const { launches, notes } = parseNcuRawCsv(lines[headerAt]!.slice(0, 2000))
    expect(launches).toEqual([])
    expect(said(notes)).toEqual([expect.stringContaining('middle of its header')])
  })
})

it("ncu's details page is refused, with the command that exports the raw one", () => {
  const details =
    '"ID","Process ID","Process Name","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","1","p","k","Duration","ns","5"\n'
  expect(() => parseNcuRawCsv(details)).toThrow(
    expect.objectContaining({ remedy: saying('--page raw') }),
  )
})
