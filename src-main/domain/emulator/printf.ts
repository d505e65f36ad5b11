/** Formats a kernel's printf output from its format string and its argument buffer. */

/** Reads the arguments in order. Each method returns the next argument. */
interface PrintfArguments {
  /** Returns the bits of the next argument, which is a 4-byte or 8-byte integer or pointer. */
  bits(bytes: 4 | 8): bigint
  double(): number
  /** Returns the string that the next argument points to. */
  text(): string
}

const conversion = /%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([diouxXcsfFeEgGaAp%])/g

const wide = new Set(['l', 'll', 'j', 'z', 't'])

const narrow: Record<string, number> = { hh: 8, h: 16 }

/**
 * Returns a positive double times a power of ten, rounded to the nearest integer with ties to even.
 */
function scaled(value: number, power: number): bigint {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const exponent = Number(bits >> 52n)
  const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n)
  const shift = Math.max(exponent, 1) - 1075
  const ten = 10n ** BigInt(Math.abs(power))
  const above = (mantissa * (power < 0 ? 1n : ten)) << BigInt(Math.max(shift, 0))
  const below = (power < 0 ? ten : 1n) << BigInt(Math.max(-shift, 0))
  const [whole, twice] = [above / below, 2n * (above % below)]
  return twice > below || (twice === below && whole & 1n) ? whole + 1n : whole
}

function fixed(value: number, digits: number): string {
  const text = scaled(value, digits)
    .toString()
    .padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

function exponential(value: number, digits: number): string {
  let exponent = value === 0 ? 0 : Number(value.toExponential(20).split('e')[1])
  let text = scaled(value, digits - exponent).toString()
  if (text.length > digits + 1) text = scaled(value, digits - ++exponent).toString()
  text = text.padEnd(digits + 1, '0')
  const power = `${exponent < 0 ? '-' : '+'}${`${Math.abs(exponent)}`.padStart(2, '0')}`
  return `${text[0]}${digits > 0 ? `.${text.slice(1)}` : ''}e${power}`
}

const trimmed = (text: string): string => text.replace(/\.?0+(?=e|$)/, '')

function general(value: number, precision: number, keepsZeros: boolean): string {
  const digits = Math.max(precision, 1)
  const exponent = Number(exponential(value, digits - 1).split('e')[1])
  const text =
    exponent < -4 || exponent >= digits
      ? exponential(value, digits - 1)
      : fixed(value, digits - 1 - exponent)
  return keepsZeros || !text.includes('.') ? text : trimmed(text)
}

function hexadecimal(value: number): string {
  if (value === 0) return '0x0p+0'
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const raw = Number(bits >> 52n)
  const exponent = raw === 0 ? -1022 : raw - 1023
  const digits = (bits & 0xfffffffffffffn).toString(16).padStart(13, '0').replace(/0+$/, '')
  return `0x${raw === 0 ? 0 : 1}${digits && `.${digits}`}p${exponent < 0 ? '' : '+'}${exponent}`
}

function magnitude(value: number, kind: string, precision: number | null, flags: string): string {
  if (Number.isNaN(value)) return 'nan'
  if (value === Infinity) return 'inf'
  switch (kind) {
    case 'f':
      return fixed(value, precision ?? 6)
    case 'e':
      return exponential(value, precision ?? 6)
    case 'g':
      return general(value, precision ?? 6, flags.includes('#'))
    default:
      return hexadecimal(value)
  }
}

const signOf = (negative: boolean, flags: string): string =>
  negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''

/** Returns the sign or prefix followed by the digits, padded to a width. */
function padded(sign: string, body: string, width: number, flags: string, zeros: boolean): string {
  const missing = Math.max(0, width - sign.length - body.length)
  if (flags.includes('-')) return sign + body + ' '.repeat(missing)
  return zeros && flags.includes('0')
    ? sign + '0'.repeat(missing) + body
    : ' '.repeat(missing) + sign + body
}

/** Returns `format` with its arguments inserted. */
export function printf(format: string, from: PrintfArguments): string {
  return format.replace(
    conversion,
    (_, given: string, width: string | undefined, precise: string | undefined, size, kind) => {
      if (kind === '%') return '%'
      const star = (): number => Number(BigInt.asIntN(32, from.bits(4)))
      const requestedWidth = width === '*' ? star() : Number(width ?? 0)
      const flags = requestedWidth < 0 ? `${given}-` : given
      const least = Math.abs(requestedWidth)
      const wanted = precise === undefined ? null : precise === '*' ? star() : Number(precise)
      const precision = wanted !== null && wanted < 0 ? null : wanted
      if (/[fFeEgGaA]/.test(kind)) {
        const value = from.double()
        const sign = signOf(value < 0 || Object.is(value, -0), flags)
        const body = magnitude(Math.abs(value), kind.toLowerCase(), precision, flags)
        const text = padded(sign, body, least, flags, Number.isFinite(value))
        return /[A-Z]/.test(kind) ? text.toUpperCase() : text
      }
      if (kind === 's')
        return padded('', from.text().slice(0, precision ?? undefined), least, flags, false)
      if (kind === 'c')
        return padded('', String.fromCharCode(Number(from.bits(4) & 255n)), least, flags, false)
      if (kind === 'p') return padded('0x', from.bits(8).toString(16), least, flags, false)
      const bits = wide.has(size) ? 64 : (narrow[size] ?? 32)
      const read = from.bits(bits === 64 ? 8 : 4)
      const isSigned = kind === 'd' || kind === 'i'
      const value = isSigned ? BigInt.asIntN(bits, read) : BigInt.asUintN(bits, read)
      const base = kind === 'o' ? 8 : /x/i.test(kind) ? 16 : 10
      const digits = (value < 0n ? -value : value).toString(base).padStart(precision ?? 1, '0')
      const prefix =
        flags.includes('#') && value !== 0n ? ({ o: '0', x: '0x', X: '0x' }[kind as 'x'] ?? '') : ''
      const sign = isSigned ? signOf(value < 0n, flags) : prefix
      const text = padded(
        sign,
        precision === 0 && value === 0n ? '' : digits,
        least,
        flags,
        precision === null,
      )
      return kind === 'X' ? text.toUpperCase() : text
    },
  )
}
