import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { indexed } from '../../../src-main/adapters/sessions/session-index'
import { tempDir } from '../../services/support'

it('an index that has to read many sessions sends one notice', async () => {
  const [root, cache] = [await tempDir(), await tempDir()]
  const told: number[] = []
  const read = () =>
    indexed({
      ...{ root, cache, name: 'names', version: '1', schema: z.string() },
      describe: (name) => Promise.resolve({ value: name, keep: true }),
      onMany: (count) => told.push(count),
    })
  await mkdir(join(root, 'one'))
  await read()
  expect(told).toEqual([])
  for (let index = 0; index < 301; index++) await mkdir(join(root, `more-${index}`))
  expect((await read()).size).toBe(302)
  await read()
  expect(told).toEqual([301])
})
