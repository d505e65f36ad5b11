import { describe, expect, it } from 'vitest'
import { evaluate, namesIn, parseExpression } from '../../../src-main/domain/task/expression'

const valueOf = (text: string, names: Record<string, number> = {}): number | null =>
  evaluate(parseExpression(text), (name) => names[name] ?? null)

describe('an expression', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['7 - 2 - 1', 4],
    ['-2 * -3', 6],
    ['17 % 5', 2],
    ['1.5e3 / 2', 750],
    ['ceil(7 / 2) + floor(7 / 2)', 7],
    ['min(4, 2, 8) + max(1, 3)', 5],
    ['pow(2, 10) - log2(1024) * sqrt(4)', 1004],
  ])('%s is %d', (text, value) => {
    expect(valueOf(text)).toBe(value)
  })

  it('takes names from whoever evaluates it', () => {
    expect(valueOf('ceil(m / 128) / smCount', { m: 4096, smCount: 16 })).toBe(2)
    expect(valueOf('your.sharedLoads / 2', { 'your.sharedLoads': 8 })).toBe(4)
    expect(namesIn(parseExpression('m * max(m, your.timeMs)'))).toEqual(['m', 'your.timeMs'])
  })

  it('has no value where a name has none, or where it is not finite', () => {
    expect(valueOf('smCount * 2')).toBeNull()
    expect(valueOf('1 / 0')).toBeNull()
  })

  it.each([
    ['1 +', 'It ends where a value is expected.'],
    ['2 * 1e999', 'Character 5: the number is too large.'],
    ['2 x', 'Character 3, "x", is unexpected.'],
    ['process.exit()', 'there is no function process.exit'],
    ['constructor("x")', 'Character 13'],
    ['min()', 'Character 5, ")", is unexpected.'],
    ['pow(2)', 'pow takes 2, not 1'],
    ['m; n', 'Character 2, ";"'],
    ['__proto__', 'Character 1, "_"'],
  ])('refuses %s', (text, sentence) => {
    expect(() => parseExpression(text)).toThrow(sentence)
  })
})
