/**
 * Tests a few thousand damaged inputs, which are the same in every run. `npm run fuzz` continues
 * with new inputs.
 */
import { describe, expect, it } from 'vitest'
import { KernelLadderError } from '../../src-main/domain/errors'
import { fuzz, inputOf, readers, type Tally } from './fuzz'
import { mutate, seeded } from './mutate'

const inputs = 100

describe('every reader', () => {
  it.each(readers.map((reader) => [reader.name, reader] as const))(
    'parses or rejects damaged input (%s)',
    async (_name, reader) => {
      const tally = await fuzz(reader, 1, ({ inputs: done }) => done >= inputs)
      expect(tally.finds).toEqual([])
      expect(tally.inputs).toBe(inputs)
      // Every reader accepts at least the undamaged inputs.
      expect(tally.refused).toBeLessThan(inputs)
    },
  )
})

describe('the fuzzer', () => {
  const count = (most: number) => (tally: Tally) => tally.inputs >= most

  it('creates a reproducible and different input for each seed and number', () => {
    const [reader] = readers
    expect(inputOf(reader!, 3, 40)).toEqual(inputOf(reader!, 3, 40))
    const all = Array.from({ length: 50 }, (_, at) => String(inputOf(reader!, 3, at + 10)))
    expect(new Set(all).size).toBeGreaterThan(40)
    const bytes = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(mutate(bytes, seeded(5))).toEqual(mutate(bytes, seeded(5)))
    expect([...bytes]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('reports crashes and non-finite numbers, but not rejections', async () => {
    const of = (read: (text: string) => unknown) => ({
      name: 'x',
      seeds: () => ['abc'],
      read: read as never,
    })
    const crash = await fuzz(
      of((text) => text.split('')[5]!.length),
      1,
      count(30),
    )
    expect(crash.finds[0]).toMatchObject({ reader: 'x', seed: 1, number: 0 })
    expect(crash.finds[0]!.what).toContain('TypeError')
    const misread = await fuzz(
      of(() => ({ deep: [{ value: NaN }] })),
      1,
      count(1),
    )
    expect(misread.finds[0]!.what).toContain('deep: 0: value: NaN')
    const refused = await fuzz(
      of(() => {
        throw new KernelLadderError('input', 'no')
      }),
      1,
      count(3),
    )
    expect(refused).toMatchObject({ refused: 3, finds: [] })
  })
})
