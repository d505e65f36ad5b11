import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  copyAccess,
  globalAccess,
  sharedAccess,
  sharedMatrices,
} from '../../../src-main/domain/emulator/accesses'

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

/** The five columns, from the rules. */
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
      const copy = copyAccess(number, number === 16, mask, offsets, contiguous(number))
      return row(copy.shared, copy.global)
    }
    default:
      return row(none, globalAccess(number === 0 ? 4 : number / 8, mask, offsets))
  }
}

describe('accesses measured one by one on an H200', () => {
  it('are all there', () => {
    expect(rows).toHaveLength(1056)
    expect(new Set(rows.map((row) => row.access)).size).toBe(24)
  })

  it.each([...new Set(rows.map((row) => row.access))])('%s', (access) => {
    const unequal = rows
      .filter((row) => row.access === access)
      .map((row) => ({ name: row.name, is: emulated(access, row.mask, row.offsets), row }))
      .filter(({ is, row }) => is.join() !== row.measured.join())
      .map(({ name, is, row }) => `${name}: ${is.join(' ')}, measured ${row.measured.join(' ')}`)
    expect(unequal).toEqual([])
  })
})
