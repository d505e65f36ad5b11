import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  copyAccess,
  globalAccess,
  sharedAccess,
  sectorsFilled,
  sharedMatrices,
  sharedPasses,
} from '../../../src-main/domain/emulator/accesses'
import { boxFault, boxRows } from '../../../src-main/domain/emulator/tensor-map'

const columns = [
  'memory_l1_wavefronts_shared',
  'memory_l1_wavefronts_shared_ideal',
  'memory_l1_tag_requests_global',
  'memory_l2_theoretical_sectors_global',
  'memory_l2_theoretical_sectors_global_ideal',
]

const [header, ...lines] = readFileSync(
  new URL('../../captures/accesses/wavefronts-h200.csv', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => line.split(','))

const rows = lines.map((line) => {
  const field = (name: string) => line[header!.indexOf(name)]!
  return {
    access: field('access'),
    name: `${field('access')} ${field('pattern')} ${field('mask')}`,
    mask: parseInt(field('mask'), 16) | 0,
    offsets: field('byteOffsets').split(' ').map(Number),
    measured: columns.map((column) => Number(field(column))),
  }
})

const contiguous = (bytes: number) => Array.from({ length: 32 }, (_, lane) => bytes * lane)

/** Returns the values of the five measured columns, as computed by the emulator's rules. */
function emulated(access: string, mask: number, offsets: number[]): number[] {
  const [, kind, size] = /^([a-z]+?)(\d*)t?$/.exec(access)!
  const number = Number(size)
  const none = { wavefronts: 0, ideal: 0 }
  const row = (shared = none, global = { sectors: 0, ideal: 0, tags: 0 }) => [
    shared.wavefronts,
    shared.ideal,
    global.tags,
    global.sectors,
    global.ideal,
  ]
  switch (kind) {
    case 'ld':
    case 'st':
      return row(sharedAccess(kind === 'ld' ? 'load' : 'store', number / 8, mask, offsets))
    case 'atomadd':
    case 'redadd':
      return row(sharedAccess('atomic', 4, mask, offsets))
    case 'ldsm':
    case 'stsm':
      return row(sharedMatrices(number, offsets))
    case 'cpa': {
      const copy = copyAccess(
        { bytes: number, bypass: number === 16 },
        mask,
        0,
        offsets,
        contiguous(number),
      )
      return row(copy.shared, copy.global)
    }
    default:
      return row(none, globalAccess(number === 0 ? 4 : number / 8, mask, offsets))
  }
}

/**
 * Measured copies by one warp. The warp's lanes form `rows` groups. The lanes' addresses are
 * computed from the description in each row of the file.
 */
const copies = readFileSync(
  new URL('../../captures/accesses/copies-h200.csv', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const fields = line.split(',')
    const [bytes, bypass, rows, pitch, shift, layout] = fields.map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    const zeros = parseInt(fields[6]!, 16)
    const perRow = 32 / Math.abs(rows)
    const lanes = Array.from({ length: 32 }, (_, lane) => {
      const [row, at] = [Math.floor(lane / perRow), lane % perRow]
      return {
        // If the number of rows is negative, all groups read the same row.
        from: ((rows < 0 ? 0 : row) * pitch + shift) * 4 + at * bytes,
        // The three destination layouts are lane order, transposed order with 4 words of padding,
        // and rows of 128 words.
        to: [lane * bytes, at * 132 * bytes + row * bytes, row * 512 + at * bytes][layout]!,
      }
    })
    const measured = fields.slice(7).map(Number)
    return { line, bytes, bypass: bypass === 1, rows, pitch, layout, zeros, lanes, measured }
  })

describe('global-to-shared copies measured one by one on an H200', () => {
  it.each([4, 8, 16])(
    'with %i bytes per lane need as many wavefronts and sectors as measured',
    (bytes) => {
      const own = copies.filter((copy) => copy.bytes === bytes)
      expect(own.length).toBeGreaterThanOrEqual(30)
      const unequal = own.filter(({ bypass, zeros, lanes, measured }) => {
        const copy = copyAccess(
          { bytes, bypass },
          -1,
          zeros,
          lanes.map(({ to }) => to),
          lanes.map(({ from }) => from),
        )
        const { shared, global } = copy
        return (
          [shared.wavefronts, shared.ideal, global.tags, global.sectors].join() !== measured.join()
        )
      })
      // For eight transposed short rows in the same banks, the GPU needs one more wavefront than
      // the rule predicts.
      const known = unequal.filter(
        ({ rows, pitch, layout }) => rows === 8 && pitch === 64 && layout === 1,
      )
      expect(known).toHaveLength(bytes === 4 ? 11 : 0)
      expect(unequal.filter((copy) => !known.includes(copy)).map(({ line }) => line)).toEqual([])
    },
  )
})

describe('accesses measured one by one on an H200', () => {
  it('number 1056 and are of 24 kinds', () => {
    expect(rows).toHaveLength(1056)
    expect(new Set(rows.map((row) => row.access)).size).toBe(24)
  })

  it.each([...new Set(rows.map((row) => row.access))])(
    '%s needs as many wavefronts and sectors as measured',
    (access) => {
      const unequal = rows
        .filter((row) => row.access === access)
        .map((row) => ({ name: row.name, is: emulated(access, row.mask, row.offsets), row }))
        .filter(({ is, row }) => is.join() !== row.measured.join())
        .map(({ name, is, row }) => `${name}: ${is.join(' ')}, measured ${row.measured.join(' ')}`)
      expect(unequal).toEqual([])
    },
  )
})

describe('the hardware counters of shared memory', () => {
  const table = (file: string): Record<string, string>[] => {
    const [names, ...all] = readFileSync(
      new URL(`../../captures/accesses/${file}`, import.meta.url),
      'utf8',
    )
      .trim()
      .split('\n')
      .map((line) => line.split(','))
    return all.map((values) =>
      Object.fromEntries(values.map((value, place) => [names![place]!, value])),
    )
  }
  const measured = [...table('wavefronts-h200.csv'), ...table('patterns-h200.csv')]
  const of = (row: Record<string, string>) => ({
    mask: parseInt(row['mask']!, 16) | 0,
    offsets: row['byteOffsets']!.split(' ').map(Number),
  })

  it("match the emulator's rule for every load and store", () => {
    const own = measured.filter(({ access }) => /^(ld|st)\d+$/.test(access!))
    expect(own).toHaveLength(441 + 348)
    for (const row of own) {
      const [, kind, bits] = /^(ld|st)(\d+)$/.exec(row['access']!)!
      const { mask, offsets } = of(row)
      const { passes, conflicts } = sharedPasses(
        kind === 'ld' ? 'load' : 'store',
        Number(bits) / 8,
        mask,
        offsets,
      )
      expect([row['access'], row['mask'], passes, conflicts].join()).toBe(
        [
          ...[row['access'], row['mask']],
          row[`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_${kind}.sum`],
          row[`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_${kind}.sum`],
        ].join(),
      )
    }
  })

  it('count the sectors that an L1-bypassing copy fills', () => {
    const own = measured.filter(({ access }) => access === 'cpa16')
    const unequal = own.filter((row) => {
      const { mask, offsets } = of(row)
      const sectors = row['l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum']
      return sectorsFilled(mask, offsets) !== Number(sectors)
    })
    expect(own).toHaveLength(40)
    // The computed and measured sector counts differ only for random patterns. In these patterns,
    // several lanes write to one sector but read from different sectors.
    expect(unequal.map(({ pattern }) => pattern)).toEqual(
      [1, 2, 3, 6, 7].map((each) => `random${each}`),
    )
  })
})

describe('a row in a box of 8 floats', () => {
  const row = (toShared: boolean, size: number, at: number) => {
    const map = {
      elementBytes: 4,
      sizes: [size, 1],
      box: [8, 1],
      strides: [4, 64],
      swizzle: 0 as const,
    }
    return boxRows({ ...map, low: 0, high: 0 }, [at, 0], toShared)[0]
  }

  // The expected values were read from the memory of an H200 after individual copies.
  it('is loaded element by element, up to the end of the array', () => {
    expect(row(true, 6, 0)).toEqual({ from: 0, before: 0, inside: 24 })
    expect(row(true, 5, 4)).toEqual({ from: 16, before: 0, inside: 4 })
    expect(row(true, 16, -4)).toEqual({ from: 0, before: 16, inside: 16 })
  })

  it('is stored up to the end of the 16-byte chunk in which the array ends', () => {
    expect(row(false, 6, 0)).toEqual({ from: 0, before: 0, inside: 32 })
    expect(row(false, 7, 4)).toEqual({ from: 16, before: 0, inside: 16 })
    expect(row(false, 4, 0)).toEqual({ from: 0, before: 0, inside: 16 })
    expect(row(false, 2, 0)).toEqual({ from: 0, before: 0, inside: 16 })
    expect(row(false, 4, 8)!.inside).toBe(0)
  })

  it('must start at a multiple of 16 bytes, and a store must not start before the array', () => {
    const faults = (toShared: boolean, places: readonly number[]) =>
      places.map((at) => boxFault(4 * at, toShared))
    expect(faults(true, [-4, -1, 0, 1, 2, 4])).toEqual([
      ...[null, 'misaligned', null],
      ...['misaligned', 'misaligned', null],
    ])
    expect(faults(false, [-4, 0, 1, 4])).toEqual(['outside-global', null, 'misaligned', null])
  })
})
