import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { fromAscii85, toAscii85 } from '../../../src-main/adapters/catalog/ascii85'

it.each([0, 1, 2, 3, 4, 5, 1023, 4096])('%i bytes survive a round trip', (length) => {
  const bytes = new Uint8Array(randomBytes(length))
  const text = toAscii85(bytes)
  expect(fromAscii85(text)).toEqual(bytes)
  expect(text).toMatch(/^[!-u]*$/)
  expect(text.length).toBe(Math.ceil((length * 5) / 4))
})

it('the largest four-byte group and an all-zero group survive a round trip', () => {
  const bytes = new Uint8Array([255, 255, 255, 255, 0, 0, 0, 0, 255])
  expect(fromAscii85(toAscii85(bytes))).toEqual(bytes)
})

it('a character outside the alphabet is rejected', () => {
  expect(() => fromAscii85('abc~e')).toThrow(RangeError)
})
