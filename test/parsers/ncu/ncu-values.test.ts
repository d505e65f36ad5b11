import { describe, expect, it } from 'vitest'
import {
  hasDecimalComma,
  parseNcuCell,
  toBaseUnit,
  plainNumber,
} from '../../../src-main/parsers/ncu/ncu-values'

describe("a cell of ncu's table", () => {
  it.each([
    ['67108864', 67108864],
    ['8.16', 8.16],
    ['0', 0],
    ['1,234.5', 1234.5],
    ['150,109,880,320', 150109880320],
    ['-3', -3],
    ['1.5e-3', 0.0015],
  ])('%s is the number %d', (cell, value) => expect(parseNcuCell(cell)).toBe(value))

  it.each(['', ' ', 'n/a', 'N/A', 'nan', '-nan', '(!) nan', '(!) n/a', 'inf', '-inf', 'no data'])(
    '%j says that there is no figure, which is not zero',
    (cell) => expect(parseNcuCell(cell)).toBeNull(),
  )

  it.each(['PolicySpread', 'all', 'No-CC', 'NVIDIA H200', '12,34'])('%s stays a word', (cell) =>
    expect(parseNcuCell(cell)).toBe(cell),
  )

  it('has a decimal comma where no grouping by thousands explains the comma', () => {
    expect(['8,16', '1.234,5', '67.108.864,00'].map(hasDecimalComma)).toEqual([true, true, true])
    expect(['8.16', '1,234', '1,234.5', 'all'].map(hasDecimalComma)).toEqual(Array(4).fill(false))
  })
})

describe('a unit becomes the base unit and a factor', () => {
  it.each([
    ['ns', 'ns', 1],
    ['nsecond', 'ns', 1],
    ['usecond', 'ns', 1e3],
    ['us', 'ns', 1e3],
    ['msecond', 'ns', 1e6],
    ['second', 'ns', 1e9],
    ['Kbyte', 'byte', 1e3],
    ['Mbyte', 'byte', 1e6],
    ['Gbyte/second', 'byte/s', 1e9],
    ['Kbyte/block', 'byte/block', 1e3],
    ['byte/s', 'byte/s', 1],
    ['Ghz', 'hz', 1e9],
    ['cycle/nsecond', 'cycle/s', 1e9],
    ['Ginst', 'inst', 1e9],
    ['inst', 'inst', 1],
    ['inst/cycle', 'inst/cycle', 1],
    ['register/thread', 'register/thread', 1],
    ['SM', 'SM', 1],
    ['%/byte', '%/byte', 1],
    // ncu prints 24400 %/byte as 24.4 %/Kbyte.
    ['%/Kbyte', '%/byte', 1e3],
    ['%', '%', 1],
    ['', '', 1],
    ['constructor', 'constructor', 1],
  ])('%s → %s × %d', (text, unit, factor) => expect(toBaseUnit(text)).toEqual({ unit, factor }))
})

it('a plain number reads exactly as JavaScript reads it, and nothing else is one', () => {
  let seed = 5
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below
  for (let round = 0; round < 5000; round += 1) {
    const digits = Array.from({ length: 1 + random(15) }, () => random(10)).join('')
    const point = random(digits.length + 1)
    const text = `${random(4) ? '' : '-'}${digits.slice(0, point)}${point > 0 && point < digits.length ? '.' : ''}${digits.slice(point)}`
    expect(Object.is(plainNumber(text), Number(text)), text).toBe(true)
  }
  for (const text of ['', '-', '.', '1.', '.5', '1,5', '1e3', '+1', 'nan', '1234567890123456'])
    expect(plainNumber(text), text).toBeNaN()
})
