/**
 * Tests malformed and malicious input. Texts and reports are truncated at any byte, have flipped
 * bytes or missing columns, or are far too long. Some inputs are designed to exhaust memory. A
 * parser must not crash, hang, or replace a missing value with a figure.
 */
import { describe, expect, it } from 'vitest'
import { KernelLadderError } from '../../src-main/domain/errors'
import { parseSanitizerXml } from '../../src-main/parsers/cuda/compute-sanitizer'
import { type NcuLaunch, parseNcuRawCsv } from '../../src-main/parsers/ncu/ncu-csv'
import { readNcuCsv } from '../../src-main/parsers/ncu/ncu-csv-stream'
import { toMetrics } from '../../src-main/parsers/ncu/ncu-metrics'
import { parseNcuRep } from '../../src-main/parsers/ncu/ncu-rep'
import { mostValues, parseJsonWithin } from '../../src-main/parsers/json-within'
import { parseSession } from '../../src-main/adapters/sessions/session-store'
import { message } from '../../src-main/domain/messages/message'
import { parseNvidiaSmi } from '../../src-main/parsers/cuda/nvidia-smi'
import { capture, ncuCapture, ncuReport } from '../captures'
import { said } from '../support'
import { drawingElementId, drawingLabel } from '../../src-main/domain/report/chart-drawings'
import { cubinsOf } from '../../src-main/parsers/cubin/fat-binary'
import { parseDrawnPage } from '../../src-main/parsers/report/drawn-page'

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text)
}
async function stream(text: string) {
  const launches: NcuLaunch[] = []
  const result = await readNcuCsv(once(text), (launch) => launches.push(launch) < 500)
  return { launches, ...result }
}

/** Returns a simple seeded generator, so that failures can be reproduced. */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return state % below
  }
}

/** Returns the text with some characters replaced, including structural characters. */
function flipped(text: string, seed: number, flips: number): string {
  const random = generator(seed)
  const signs = [...'",;\n\r\t<>&=/(){}0-.eE\u0000\ufffd\ud800']
  const letters = [...text]
  for (let n = 0; n < flips; n += 1) letters[random(letters.length)] = signs[random(signs.length)]!
  return letters.join('')
}

/** Checks that numeric metric values are finite, and that grid and block extents are integers. */
function expectSound(launches: readonly NcuLaunch[]): void {
  for (const { metrics, grid, block } of launches) {
    for (const { value } of Object.values(metrics))
      if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true)
    for (const extent of [...(grid ?? []), ...(block ?? [])])
      expect(Number.isInteger(extent)).toBe(true)
  }
}

const tables = {
  'the raw page': ncuCapture('launches-two-rungs'),
  'a wide raw page': ncuCapture('import-set-full'),
  'the details page': ncuCapture('import-details'),
}

describe.each(Object.entries(tables))('%s', (_name, text) => {
  it('truncated at any point yields exactly the launches before the cut, unchanged', async () => {
    const { launches: whole } = await stream(text)
    const random = generator(11)
    const cuts = Array.from({ length: 40 }, () => random(text.length))
    for (const cut of [0, 1, text.length - 1, text.length - 2, ...cuts]) {
      const { launches } = await stream(text.slice(0, cut))
      for (const [index, launch] of launches.entries()) {
        // The details page has many rows per launch. The last launch may lack some metrics, but all
        // other launches must match the uncut table.
        expect(whole[index]?.metrics, `cut at ${cut}`).toMatchObject(launch.metrics)
        const kept = launch.rules ?? []
        expect(whole[index]?.rules?.slice(0, kept.length) ?? []).toEqual(kept)
        const bare = { metrics: null, rules: null }
        expect({ ...launch, ...bare }).toEqual({ ...whole[index], ...bare })
      }
    }
  })

  it('with flipped characters is parsed or rejected with an error message', async () => {
    for (let seed = 1; seed <= 25; seed += 1) {
      const damaged = flipped(text, seed, 1 + (seed % 7) * 20)
      const read = await stream(damaged).catch((error: unknown) => {
        expect(error).toBeInstanceOf(KernelLadderError)
        return { launches: [] }
      })
      expectSound(read.launches)
    }
  })
})

it('the raw page of a live ncu, even if truncated or altered, is parsed or rejected', () => {
  const text = tables['the raw page']
  for (let seed = 1; seed <= 40; seed += 1) {
    const damaged =
      seed % 2 ? flipped(text, seed, seed) : text.slice(0, generator(seed)(text.length))
    try {
      expectSound(parseNcuRawCsv(damaged).launches)
    } catch (error) {
      // The CSV library itself reports unbalanced quotes. A run keeps its times even if ncu's CSV
      // is damaged.
      expect(String(error)).toMatch(/KernelLadderError|CsvError|Quote|Delimiter/i)
    }
  }
})

describe('a report', () => {
  const bytes = ncuReport('launches-two-rungs')
  const whole = parseNcuRep(bytes)

  it('with flipped bytes never has a launch without a grid', () => {
    const random = generator(3)
    for (let round = 0; round < 80; round += 1) {
      const damaged = bytes.slice()
      for (let n = 0; n < 1 + (round % 30); n += 1)
        damaged[4 + random(bytes.length - 4)] = random(256)
      const { launches } = parseNcuRep(damaged)
      expectSound(launches)
      for (const { grid, block } of launches)
        expect(Math.min(...grid!, ...block!)).toBeGreaterThan(0)
    }
  })

  it('distinguishes a counted zero from a metric without a figure', () => {
    const { launches } = whole
    const zeros = launches.flatMap(({ metrics }) =>
      Object.entries(metrics).filter(([, { value }]) => value === 0),
    )
    const nulls = launches.flatMap(({ metrics }) =>
      Object.values(metrics).filter(({ value }) => value === null),
    )
    expect(zeros.length).toBeGreaterThan(0)
    expect(nulls.length).toBeGreaterThan(0)
  })

  it('with a hundred million zeros is parsed immediately', () => {
    const zeros = new Uint8Array(100_000_000)
    zeros.set(bytes.subarray(0, 10))
    expect(parseNcuRep(zeros).launches).toEqual([])
  })

  it('with millions of empty metrics in one launch is rejected before it fills memory', () => {
    const metrics = 4_000_000
    const sized = (length: number): number[] => [0, 8, 16, 24].map((bits) => (length >> bits) & 255)
    const varint = (value: number): number[] =>
      value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))]
    const header = [16, 1, 40, ...varint(4 + metrics * 2)]
    const bomb = new Uint8Array(4 + 6 + 4 + header.length + 4 + metrics * 2)
    bomb.set([0x4e, 0x56, 0x52, 0, ...sized(2), 8, 7, ...sized(header.length), ...header])
    const start = 10 + 4 + header.length
    bomb.set(sized(metrics * 2), start)
    for (let at = start + 4; at < bomb.length; at += 2) bomb[at] = (13 << 3) | 2
    const { launches, notes } = parseNcuRep(bomb)
    expect(launches).toEqual([])
    expect(said(notes)).toEqual([expect.stringContaining('more than 100000 metrics')])
  })
})

describe('a report with many launches', () => {
  it('is decoded up to the last requested launch, and its remaining launches are only counted', () => {
    const report = ncuReport('launches-two-rungs')
    const all = parseNcuRep(report)
    expect(all.total).toBe(all.launches.length)
    expect(all.total).toBeGreaterThan(2)
    const taken: number[] = []
    const some = parseNcuRep(report, ({ id }) => taken.push(id) < 2)
    expect(taken).toEqual([0, 1])
    expect(some.launches).toEqual(all.launches.slice(0, 2))
    expect(some.total).toBe(all.total)
  })
})

it('a machine-code container without a length in its header is reported as damaged', () => {
  const bytes = new Uint8Array(64)
  new DataView(bytes.buffer).setUint32(0, 0xba55ed50, true)
  expect(() => cubinsOf(bytes)).toThrow(KernelLadderError)
})

describe('JSON from an untrusted source', () => {
  const many = `[${'[],'.repeat(mostValues / 2)}[]]`

  it('with more values than fit in memory is rejected before it is parsed', () => {
    expect(parseJsonWithin(many)).toEqual({
      refused: message('files.tooMany', { most: mostValues }),
    })
    expect(parseJsonWithin('[1,[2],{"a":3}]', 7)).toEqual({ value: [1, [2], { a: 3 }] })
    expect(parseJsonWithin('[1,[2],{"a":3}]', 5)).toHaveProperty('refused')
    expect(parseJsonWithin('{')).toMatchObject({ refused: { key: 'files.notJson' } })
  })

  it('with too many values is also rejected when opened as a session', () => {
    expect(() => parseSession(many, 'session.json')).toThrow(/session\.json .*5000000 values/)
  })
})

describe('a table with', () => {
  const header = '"ID","Process ID","Kernel Name","Block Size","Grid Size"'
  const launch = '"0","7","tile","(32, 1, 1)","(4, 1, 1)"'
  const metric = 'gpu__time_duration.sum'

  it.each(['', 'n/a', 'N/A', 'nan', '-nan', 'inf', '-', '--', '(!) n/a', 'no data'])(
    'the cell %j has a missing figure instead of 0',
    async (cell) => {
      const { launches } = await stream(
        `${header},"${metric}"\n"","","","","","ns"\n${launch},"${cell}"\n`,
      )
      const reported = /nan|inf/.test(cell) ? { reported: cell } : {}
      expect(launches[0]!.metrics[metric]).toEqual({ value: null, unit: 'ns', ...reported })
      for (const { value, evidence } of Object.values(toMetrics(launches, 'standard')))
        expect({ value, evidence }).toEqual({ value: null, evidence: 'unavailable' })
    },
  )

  it('a missing identifier column has no launches, and a note names the column', async () => {
    const { launches, notes } = await stream(
      '"ID","Process ID","Block Size","a__b.sum"\n"0","7","(32, 1, 1)","5"\n',
    )
    expect(launches).toEqual([])
    expect(said(notes)).toEqual([expect.stringContaining('no column "Kernel Name"')])
  })

  it('no grid and block columns, as from an older ncu, has figures but no launch shape', async () => {
    const { launches, notes } = await stream(
      '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","a__b.sum"\n' +
        '"","","","","","","","","byte"\n"0","7","a","127.0.0.1","tile","2022-Mar-01 10:00:00","1","7","5"\n',
    )
    expect(launches).toMatchObject([{ kernelName: 'tile', grid: null, block: null }])
    expect(launches[0]!.metrics).toEqual({ 'a__b.sum': { value: 5, unit: 'byte' } })
    expect(notes).toEqual([])
  })

  it('an empty grid cell has no launch for that row', async () => {
    const { launches, notes } = await stream(`${header}\n"0","7","tile","(32, 1, 1)",""\n`)
    expect(launches).toEqual([])
    expect(said(notes)).toEqual([expect.stringContaining('cannot be read')])
  })

  it('no row of units has a reason instead of each figure whose unit prefix is ambiguous', async () => {
    const { launches } = await stream(
      `${header},"${metric}","launch__registers_per_thread","l1tex__t_sectors.sum"\n${launch},"2.5","32","10"\n`,
    )
    const metrics = toMetrics(launches, 'standard')
    expect(launches[0]!.metrics[metric]).toEqual({ value: 2.5, unit: '' })
    expect(launches[0]!.metrics['launch__registers_per_thread']!.unit).toBe('')
    expect(metrics['l1Bytes']).toMatchObject({ value: null, evidence: 'unavailable' })
    expect(said([metrics['l1Bytes']!.reason!])).toEqual([
      "ncu's table has no unit for l1tex__t_sectors.sum.",
    ])
    expect(metrics['registersPerThread']).toMatchObject({ value: 32, evidence: 'measured' })
  })

  it('a column named like a built-in property keeps its cells', async () => {
    const { launches } = await stream(
      `${header},"__proto__","constructor"\n"","","","","","ns","ns"\n${launch},"3","4"\n`,
    )
    expect(Object.entries(launches[0]!.metrics)).toEqual([
      ['__proto__', { value: 3, unit: 'ns' }],
      ['constructor', { value: 4, unit: 'ns' }],
    ])
    expect(launches[0]!.metrics['value']).toBeUndefined()
  })

  it('no quotes is parsed without an unterminated last line, whose last figure may be truncated', async () => {
    const rows = ['0;7;tile;(32, 1, 1);(4, 1, 1);12,5', '1;7;tile;(32, 1, 1);(4, 1, 1);12']
    const { launches, notes } = await stream(
      ['ID;Process ID;Kernel Name;Block Size;Grid Size;a__b.avg', ';;;;;ns', ...rows].join('\n'),
    )
    expect(launches).toHaveLength(1)
    expect(said(notes)).toEqual([expect.stringContaining('may be truncated')])
  })

  it('a million rows yields the requested number of launches and a count of all rows', async () => {
    const rows = 1_000_000
    const block = `${launch},"5"\n`.repeat(1000)
    let alive = 0
    let mostAlive = 0
    async function* pages(): AsyncGenerator<string> {
      yield `${header},"a__b.sum"\n"","","","","","ns"\n`
      for (let n = 0; n < rows; n += 1000) {
        alive += 1
        mostAlive = Math.max(mostAlive, alive)
        yield await Promise.resolve(block)
        // A reader that requests the next block no longer needs the current block.
        alive -= 1
      }
    }
    let taken = 0
    const { total, notes } = await readNcuCsv(pages(), () => (taken += 1) < 500)
    expect({ taken, total, notes }).toEqual({ taken: 500, total: rows, notes: [] })
    expect(mostAlive).toBe(1)
  })

  it('a million damaged rows produces only a few notes', async () => {
    const text = `${header},"a__b.sum"\n${'"0","7"\n'.repeat(1_000_000)}`
    const { launches, notes } = await stream(text)
    expect(launches).toEqual([])
    expect(notes.length).toBeLessThanOrEqual(21)
  })
})

describe('XML', () => {
  const smi = capture('nvidia-smi/580.159.04-h200/query-xml').stdout
  const sanitizer = capture('compute-sanitizer/2025.3.1-h200/memcheck-out-of-bounds').saved!
  /**
   * Nested XML entities. Thirty levels of ten references each would expand to more text than fits
   * in memory.
   */
  const laughs = `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from(
    { length: 30 },
    (_, n) => `<!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`,
  ).join('')}]>`

  it('with a billion-laughs entity is not expanded', () => {
    const { driver } = parseNvidiaSmi(
      `${laughs}<nvidia_smi_log><driver_version>&a30;</driver_version></nvidia_smi_log>`,
    )
    expect(driver).toBe('&a30;')
    const { records } = parseSanitizerXml(
      `${laughs}<ComputeSanitizerOutput><record><kind>&a30;</kind></record></ComputeSanitizerOutput>`,
    )
    expect(records[0]?.kind).toBe('&a30;')
  })

  it.each([
    ['endlessly nested', '<nvidia_smi_log>' + '<a>'.repeat(50_000) + '</nvidia_smi_log>'],
    ['an unterminated entity', `<!DOCTYPE x [<!ENTITY a "${'x'.repeat(1e6)}</nvidia_smi_log>`],
    ['a comment', '<!-- </nvidia_smi_log> -->'],
    ['an end tag without a start tag', '</nvidia_smi_log>'],
    ['plain text in the root element', '<nvidia_smi_log>hello</nvidia_smi_log>'],
  ])('that is %s is rejected with an error message', (_what, text) => {
    expect(() => parseNvidiaSmi(text)).toThrow(
      expect.objectContaining({ kind: 'input', message: expect.stringContaining('nvidia-smi') }),
    )
  })

  it('for a GPU without a bus id still has the GPU name', () => {
    const text = '<nvidia_smi_log><gpu><product_name>X</product_name></gpu></nvidia_smi_log>'
    expect(parseNvidiaSmi(text).gpus).toMatchObject([
      { name: 'X', pciBusId: null, memoryTotalBytes: null, smClockMHz: null },
    ])
  })

  it('that is truncated or has flipped bytes is parsed or rejected with an error message', () => {
    for (const [text, parse] of [
      [smi, parseNvidiaSmi],
      [sanitizer, parseSanitizerXml],
    ] as const)
      for (let seed = 1; seed <= 30; seed += 1) {
        const damaged =
          seed % 2 ? flipped(text, seed, seed * 3) : text.slice(0, generator(seed)(text.length))
        try {
          parse(damaged)
        } catch (error) {
          expect(error).toBeInstanceOf(KernelLadderError)
        }
      }
  })
})

describe('a page from a browser', () => {
  it("yields each drawing without the browser's escaping", () => {
    const dom = `<html><body><main><h2>Roofline</h2></main><pre id="${drawingElementId(1)}" ${drawingLabel}="a &quot;b&quot; > c">&lt;svg a="&amp;lt;b"&gt;&nbsp;&lt;/svg&gt;</pre></body></html>`
    expect(parseDrawnPage(dom, 2).drawings).toEqual([
      null,
      { label: 'a "b" > c', svg: '<svg a="&lt;b">\u00a0</svg>' },
    ])
  })

  it('without a drawing yields its text instead', () => {
    const dom =
      '<main class="main"><div><h2>Memory traffic: nothing to draw</h2><p>Not collected &amp; so on.</p> <code>run</code></div></main>'
    expect(parseDrawnPage(dom, 1)).toEqual({
      drawings: [null],
      words: 'Memory traffic: nothing to draw. Not collected & so on. run',
    })
  })

  it('without content yields no text', () => {
    expect(parseDrawnPage('', 0)).toEqual({ drawings: [], words: '' })
  })

  it('with many unclosed tags is parsed in one pass', () => {
    const signs = '<'.repeat(400_000)
    expect(parseDrawnPage(`<main>${signs}</main>`, 0).words).toBe(signs)
    expect(parseDrawnPage('<main>'.repeat(60_000), 0).words).toBe('')
  }, 5000)
})
