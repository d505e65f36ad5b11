/**
 * Converts units to ncu's base units: ns, byte, hz, and plain counts.
 *
 * Therefore, output with `--print-units auto` yields the same values as output with `--print-units
 * base`. ncu's prefixes are decimal, so 1 Kbyte is 1000 bytes.
 */

interface BaseUnit {
  unit: string
  /** Factor for converting from the given unit to the base unit. */
  factor: number
}

const nanoseconds: Record<string, number> = {
  ns: 1,
  nsecond: 1,
  us: 1e3,
  usecond: 1e3,
  ms: 1e6,
  msecond: 1e6,
  s: 1e9,
  second: 1e9,
}

const prefixes: Record<string, number> = { K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 }

function counted(unit: string): BaseUnit {
  const [, prefix, rest] = /^([KMGTP])([a-z]+)$/.exec(unit) ?? []
  return prefix && rest ? { unit: rest, factor: prefixes[prefix]! } : { unit, factor: 1 }
}

const ownValue = (table: Record<string, number>, key: string): number | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/**
 * Converts a unit to its base unit and factor. Examples: `Kbyte/block` becomes byte/block and 1000.
 * `usecond` becomes ns and 1000. `cycle/nsecond` becomes cycle/s and 1e9.
 */
export function toBaseUnit(text: string): BaseUnit {
  const [top = '', ...rest] = text.trim().split('/')
  const below = rest.join('/')
  const time = ownValue(nanoseconds, top)
  const numerator = time === undefined ? counted(top) : { unit: 'ns', factor: time }
  if (below === '') return numerator
  const belowTime = ownValue(nanoseconds, below)
  if (belowTime !== undefined)
    return { unit: `${numerator.unit}/s`, factor: (numerator.factor * 1e9) / belowTime }
  const denominator = counted(below)
  return {
    unit: `${numerator.unit}/${denominator.unit}`,
    // For percent per byte, ncu scales the value as if the prefix belonged to the numerator. For
    // example, ncu prints 24400 %/byte as 24.4 %/Kbyte.
    factor: numerator.unit === '%' ? denominator.factor : numerator.factor / denominator.factor,
  }
}
