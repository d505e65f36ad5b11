import { describe, expect, it } from 'vitest'
import { printf } from '../../../src-main/domain/emulator/printf'

/** Arguments by their kinds: a string, a whole number as a bigint, a double. */
const print = (format: string, ...given: (string | bigint | number)[]): string => {
  const rest = [...given]
  const next = () => rest.shift()
  return printf(format, {
    bits: (bytes) => BigInt.asUintN(8 * bytes, next() as bigint),
    double: () => next() as number,
    text: () => next() as string,
  })
}

/** A format, its arguments, and what glibc prints of them. */
const printed: [string, (string | bigint | number)[], string][] = [
  [
    '%d|%5d|%-5d|%05d|%+d|% d|%.3d|%5.3d',
    [42n, 42n, 42n, 42n, 42n, 42n, 7n, 7n],
    '42|   42|42   |00042|+42| 42|007|  007',
  ],
  [
    '%i|%u|%x|%X|%#x|%o|%#o|%08x',
    [-1n, 4294967295n, 48879n, 48879n, 255n, 8n, 8n, 48879n],
    '-1|4294967295|beef|BEEF|0xff|10|010|0000beef',
  ],
  [
    '%ld|%lld|%lu|%hhd|%hd|%zu',
    [-5000000000n, 9007199254740993n, 18446744073709551615n, 300n, 70000n, 7n],
    '-5000000000|9007199254740993|18446744073709551615|44|4464|7',
  ],
  [
    '%f|%.2f|%8.3f|%-8.1f|%+f|%08.2f|%.0f',
    [3.14159, 2.5, -1.5, 1.25, 0.5, -3.14159, 1e20],
    '3.141590|2.50|  -1.500|1.2     |+0.500000|-0003.14|100000000000000000000',
  ],
  [
    '%e|%.2E|%g|%g|%g|%G|%#g|%.3g',
    [12345.678, 0.00012, 1e-5, 100000, 1e6, 1e-10, 1, 1234.5],
    '1.234568e+04|1.20E-04|1e-05|100000|1e+06|1E-10|1.00000|1.23e+03',
  ],
  ['%f|%F|%e|%5g|%f', [Infinity, -Infinity, NaN, 0, -0], 'inf|-INF|nan|    0|-0.000000'],
  ['%a|%a|%a', [1, 0.15625, -3], '0x1p+0|0x1.4p-3|-0x1.8p+1'],
  [
    '%c|%s|%10s|%-10s|%.2s|%%|%*d|%-*d|%.*f',
    [120n, 'text', 'text', 'text', 'text', 6n, 42n, 6n, 42n, 2n, 1.005],
    'x|text|      text|text      |te|%|    42|42    |1.00',
  ],
  ['%f|%.3f', [1e22, 2 ** 76], '10000000000000000000000.000000|75557863725914323419136.000'],
  ['%p|%y|100%', [0x7f0000010000n], '0x7f0000010000|%y|100%'],
]

describe('printf', () => {
  it.each(printed)('%s', (format, given, expected) => {
    expect(print(format, ...given)).toBe(expected)
  })
})
