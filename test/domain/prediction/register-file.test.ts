/**
 * Tests the delays of operands in the same register bank, and the operand cache that avoids these
 * delays.
 */
import { expect, test } from 'vitest'
import { RegisterFile } from '../../../src-main/domain/prediction/register-file'
import type { RegisterRead } from '../../../src-main/domain/prediction/timed-code'

/** Returns the reads of an instruction with the given source registers. `kept` has positions. */
const sources = (registers: readonly number[], kept: readonly number[] = []): RegisterRead[] =>
  registers.map((register, position) => ({
    ...{ register, position, isWide: false },
    isKept: kept.includes(position),
  }))

const [warp, other] = [{}, {}]

test.each([
  { odd: 2, registers: [16, 19, 21], delay: 0 },
  { odd: 1, registers: [16, 18, 21], delay: 1 },
  { odd: 0, registers: [16, 18, 20], delay: 2 },
])(
  'after three even registers, an instruction with $odd odd registers is delayed by $delay',
  ({ registers, delay }) => {
    const file = new RegisterFile()
    expect(file.read(warp, sources([10, 12, 14]), 0)).toBe(0)
    expect(file.read(warp, sources(registers), 1)).toBe(delay)
  },
)

test('reading two registers per instruction and cycle causes no delay', () => {
  const file = new RegisterFile()
  for (let time = 0; time < 100; time++)
    expect(file.read(warp, sources([2 * time, 2 * time + 1]), time)).toBe(0)
})

/**
 * Returns the delays of 100 instructions with three sources. All instructions have the same first
 * source.
 */
function delays(warpAt: (time: number) => object, kept: readonly number[]): number {
  const file = new RegisterFile()
  let [time, sum] = [0, 0]
  for (let index = 0; index < 100; index++) {
    const delay = file.read(warpAt(index), sources([8, 20, 41], kept), time)
    time += 1 + delay
    sum += delay
  }
  return sum
}

test('the reuse flag saves one read of an even register per instruction', () => {
  expect(delays(() => warp, [])).toBeGreaterThan(95)
  expect(delays(() => warp, [0])).toBe(0)
})

test('an instruction from another warp replaces the cached operand', () => {
  expect(delays((index) => (index % 2 ? warp : other), [0])).toBeGreaterThan(95)
})

test('a wide operand uses both banks', () => {
  const file = new RegisterFile()
  const [read] = sources([10])
  let time = 0
  for (let index = 0; index < 3; index++)
    time +=
      1 +
      file.read(
        warp,
        [0, 1, 2].map((position) => ({ ...read!, position, isWide: true })),
        time,
      )
  // Each instruction reads three registers from each bank.
  expect(time).toBe(7)
})

test('delays are counted only between the two requested times', () => {
  const file = new RegisterFile()
  file.read(warp, sources([10, 12, 14]), 0)
  file.read(warp, sources([16, 18, 20]), 1)
  expect(file.delayed(0, 10)).toBe(2)
  expect(file.delayed(3, 10)).toBe(1)
  expect(file.delayed(4, 10)).toBe(0)
})
