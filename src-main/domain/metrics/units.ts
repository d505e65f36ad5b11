/**
 * The units of all figures, and functions that format figures. The UI, the CLI and the reports use
 * only these functions.
 */

export const units = [
  'ms',
  's',
  'GFLOP/s',
  'TFLOP/s',
  '%',
  '×',
  'waves',
  'inst',
  'wavefronts',
  'conflicts',
  'registers',
  'sectors',
  'warps',
  'bytes',
  'blocks',
  'MHz',
  'GB/s',
  'FLOP/byte',
  'FLOP',
] as const
export type Unit = (typeof units)[number]

/**
 * Maximum number of decimal places. Numbers that need more decimal places are formatted in
 * exponential notation.
 */
const mostPlaces = 20

const significant = (value: number, digits: number): string => {
  if (value === 0) return '0'
  const magnitude = Math.floor(Math.log10(Math.abs(value)))
  if (digits - 1 - magnitude > mostPlaces) return value.toExponential(digits - 1)
  return value.toFixed(Math.max(0, digits - 1 - magnitude))
}

/**
 * Returns a number with the given number of decimals. A nonzero value that would round to 0 has
 * more decimals, up to its first significant digit.
 */
export function withDecimals(value: number, decimals: number): string {
  const text = value.toFixed(decimals)
  return value !== 0 && Number(text) === 0 ? significant(value, 1) : text
}

const siPrefixes = [
  { factor: 1e12, symbol: 'T' },
  { factor: 1e9, symbol: 'G' },
  { factor: 1e6, symbol: 'M' },
  { factor: 1e3, symbol: 'k' },
] as const

/** Returns a count with an SI prefix and three significant digits, such as `134 M` for 134217728. */
export function formatCount(value: number): string {
  const prefix = siPrefixes.find(({ factor }) => Math.abs(value) >= factor)
  if (!prefix) return Number.isInteger(value) ? String(value) : significant(value, 3)
  return `${significant(value / prefix.factor, 3)} ${prefix.symbol}`
}

/** Returns bytes with a binary prefix, such as `8 KiB` for 8192. */
export function formatBytes(value: number): string {
  const steps = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
  let index = 0
  let scaled = value
  while (Math.abs(scaled) >= 1024 && index < steps.length - 1) {
    scaled /= 1024
    index += 1
  }
  return `${Number.isInteger(scaled) ? scaled : significant(scaled, 3)} ${steps[index]}`
}

/**
 * Returns a time in a suitable unit: 0.0421 ms → `42.1 µs`, 2.704 ms → `2.70 ms`, 2704 ms → `2.70
 * s`.
 */
export function formatMs(ms: number): string {
  if (ms < 1) return `${significant(ms * 1000, 3)} µs`
  if (ms < 1000) return `${significant(ms, 3)} ms`
  return `${significant(ms / 1000, 3)} s`
}

/**
 * Returns a rate in GFLOP/s as text. Rates of 1000 GFLOP/s or more are printed in TFLOP/s. Null
 * means that operations are not counted.
 */
export const formatGflops = (value: number | null): string =>
  value === null
    ? '—'
    : value < 1000
      ? `${significant(value, 3)} GFLOP/s`
      : `${significant(value / 1000, 3)} TFLOP/s`

/** Returns a ratio or speedup as text: 0.0104 → `0.010×`, 1.013 → `1.01×`, 12.3 → `12.3×`. */
export const formatRatio = (value: number): string =>
  value < 1 ? `${withDecimals(value, 3)}×` : `${significant(value, 3)}×`

/** Returns a percentage as text, such as `93.8 %` for 93.81. */
export const formatPercent = (value: number): string => `${withDecimals(value, 1)} %`

/**
 * Returns a fraction as a percentage without decimals: 0.253 → `25 %`. Small fractions keep one
 * significant digit: 0.003 → `0.3 %`.
 */
export const formatShare = (share: number): string => `${withDecimals(100 * share, 0)} %`

/**
 * Returns a unit's name. The unit `warps` counts stalled warps per issued instruction, so its
 * values can exceed the number of resident warps.
 */
export const unitLabel = (unit: Unit): string => (unit === 'warps' ? 'warps/inst' : unit)

/** Returns a figure with its unit as text. All output uses this function. */
export function formatValue(value: number, unit: Unit): string {
  switch (unit) {
    case 'ms':
      return formatMs(value)
    case 'GFLOP/s':
      return formatGflops(value)
    case '%':
      return formatPercent(value)
    case '×':
      return formatRatio(value)
    case 'bytes':
      return formatBytes(value)
    case 'waves':
    case 'sectors':
    case 'warps':
      return `${significant(value, 3)} ${unitLabel(unit)}`
    case 'registers':
    case 'blocks':
    case 'MHz':
      return `${Math.round(value)} ${unit}`
    case 'GB/s':
      return value < 1000 ? `${significant(value, 3)} GB/s` : `${significant(value / 1000, 3)} TB/s`
    case 's':
    case 'TFLOP/s':
    case 'FLOP/byte':
      return `${significant(value, 3)} ${unit}`
    case 'FLOP': {
      const [number, prefix = ''] = formatCount(value).split(' ')
      return `${number} ${prefix}FLOP`
    }
    case 'inst':
    case 'wavefronts':
    case 'conflicts':
      return formatCount(value)
  }
}
