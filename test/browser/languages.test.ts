/** Every screen in each language: no sentence of the program is left in English. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authoredTexts, englishOn } from './english-left'
import { screens } from './screens'
import { settled, startHarness, type Harness } from './support'

let harness: Harness
let authored: string[]
beforeAll(async () => {
  harness = await startHarness()
  authored = await authoredTexts(harness.core)
})
afterAll(() => harness.stop())

const recorded = (name: string, rest: string): string =>
  `/session/${encodeURIComponent(`recorded:${name}`)}/${rest}`
const beside = (name: string): string => `?with=${encodeURIComponent(`recorded:${name}`)}`
const compare = 'compare/02_coalesced/03_shared_tile'

/** Beside the list of all screens: those that say more of some sessions. */
const more = [
  {
    name: 'two sizes that must not be compared',
    route: recorded('gemm-fp32-h200-4096', compare + beside('gemm-fp32-h200-1024')),
    ready: '.guard',
  },
  {
    name: 'two ladders compared',
    route: recorded('gemm-fp32-h200-4096', compare + beside('gemm-fp32-h200-4096-deep')),
    ready: '.guard',
  },
  {
    name: 'roofline',
    route: recorded('gemm-fp32-h200-4096-deep', 'charts/roofline'),
    ready: 'canvas',
  },
  {
    name: 'a negative ladder',
    route: recorded('seed-cutlass-h200', 'ladder'),
    ready: 'tr[data-rung]',
  },
  { name: 'its summary', route: recorded('seed-cutlass-h200', 'export'), ready: 'article .best' },
]

describe.each(['ko', 'zh-CN'])('in %s', (locale) => {
  it('no screen has an English sentence', async () => {
    const { page } = await harness.open('/doctor', { locale })
    const found: Record<string, string[]> = {}
    const all = [...screens, ...more]
    for (const { name, route, ready } of all) {
      await page.goto(`${harness.origin}/#${route}`)
      await page.locator(ready).first().waitFor()
      await settled(page)
      found[name] = await englishOn(page, authored)
    }
    expect(found).toEqual(Object.fromEntries(all.map(({ name }) => [name, []])))
  })
})

it('an English sentence would be found', async () => {
  const { page } = await harness.open('/doctor', { locale: 'en' })
  await page.locator('main h2').first().waitFor()
  expect(await englishOn(page, authored)).not.toEqual([])
})
