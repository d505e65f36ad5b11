/**
 * Tests Compare's hardware views, which show memory and the source and machine code of whole
 * kernels.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { DeepKernel } from '../../src-main/domain/session/deep'
import { compareRoute, startHarness, type Harness } from './support'

let harness: Harness
const deepRef = 'recorded:gemm-fp32-h200-4096-deep'
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const kernelOf = async (rung: string): Promise<DeepKernel> =>
  (await harness.core.call('sessions.deep', { ref: deepRef, rung }))!.kernels[0]!

async function open(a: string, b: string, options = {}) {
  const opened = await harness.visit(compareRoute(deepRef, a, b), { width: 1440, ...options })
  await opened.page.locator('.compare .headline').waitFor()
  await opened.page.keyboard.press('m')
  await opened.page.locator('.sass-list .row.cursor').first().waitFor()
  return opened
}
const sideOf = (page: Page, side: string) => page.getByRole('region', { name: side, exact: true })

it('the machine code view links a line to its instructions and an instruction to its line', async () => {
  const { page, faults } = await open('08_warp_tile', '09_register_prefetch')
  const { instructions } = await kernelOf('09_register_prefetch')
  const b = sideOf(page, 'b')
  // The view opens at the hottest line.
  await expect.poll(() => b.locator('.cm-markedLine').innerText()).toContain('sum[i][j] +=')
  const row = b.locator('.row.cursor')
  const chosen = instructions[Number(await row.getAttribute('data-index'))]!
  expect(chosen.line).toBe(158)
  await expect.poll(() => row.innerText()).toContain(chosen.text)
  await b.locator('.cm-line', { hasText: 'for (int step = 0; step < TN' }).first().click()
  await expect.poll(() => b.locator('.cm-markedLine').innerText()).toContain('for (int step')
  await b.getByRole('listbox').focus()
  await page.keyboard.press('Home')
  await expect.poll(() => row.getAttribute('data-index')).toBe('0')
  await expect
    .poll(() => b.locator('.cm-lineNumbers').innerText())
    .toContain(String(instructions[0]!.line))
  expect(faults).toEqual([])
})

it('a search covers both kernels, filters by opcode, and jumps to the next hottest line', async () => {
  const { page, faults } = await open('05_thread_tile_2d', '06_float4')
  const [a, b] = [await kernelOf('05_thread_tile_2d'), await kernelOf('06_float4')]
  const stores = [a, b].map(
    ({ instructions }) => instructions.filter(({ text }) => text.includes('STG')).length,
  )
  await page.keyboard.press('/')
  await page.keyboard.type('stg')
  const found = page.locator('.machine .find .count')
  await expect.poll(() => found.innerText()).toBe(`1 of ${stores[0]! + stores[1]!}`)
  await page.keyboard.press('Shift+Enter')
  await expect.poll(() => sideOf(page, 'b').locator('.row.cursor').innerText()).toContain('STG')
  await page.getByLabel('Opcodes shown').selectOption('STG')
  await expect
    .poll(() => sideOf(page, 'b').locator('.row').first().getAttribute('aria-setsize'))
    .toBe(String(stores[1]))
  await page.getByLabel('Opcodes shown').selectOption('')
  await page.locator('.machine').getByLabel('Line heat').selectOption('sharedWavefrontsExcess')
  await sideOf(page, 'a').getByRole('listbox').focus()
  await page.keyboard.press('h')
  const hottest = a.lines.reduce((most, line) =>
    line.sharedWavefrontsExcess! > most.sharedWavefrontsExcess! ? line : most,
  )
  await expect
    .poll(() => sideOf(page, 'a').locator('.cm-markedLine').innerText())
    .toContain(hottest.text!.trim())
  expect(faults).toEqual([])
})

it('the machine code view renders only a few of thousands of instructions, and scrolls to the end', async () => {
  const { page, faults } = await open('00_cublas', '09_register_prefetch')
  const { instructions } = await kernelOf('00_cublas')
  const a = sideOf(page, 'a')
  const rows = a.locator('.row')
  await expect
    .poll(() => rows.first().getAttribute('aria-setsize'))
    .toBe(String(instructions.length))
  await expect.poll(() => rows.count()).toBeLessThan(100)
  await a.getByRole('listbox').focus()
  await page.keyboard.press('End')
  await expect.poll(() => a.locator('.row.cursor').innerText()).toContain(instructions.at(-1)!.text)
  expect(faults).toEqual([])
})

it('the memory map draws the traffic of each memory level for one rung or both rungs', async () => {
  const { page, faults } = await harness.visit(
    compareRoute(deepRef, '05_thread_tile_2d', '06_float4'),
  )
  await page.locator('.compare .headline').waitFor()
  await page.keyboard.press('y')
  const diagram = page.getByRole('img', { name: /SM and shared memory: a +84\.5 GiB/ })
  await diagram.waitFor()
  expect(await diagram.innerHTML()).toContain('9.3 → 0.0 % hit')
  await expect.poll(() => diagram.locator('line').count()).toBe(8)
  const tight = await diagram.locator('g:has(> .box)').evaluateAll((boxes) =>
    boxes.flatMap((box) => {
      const { width } = box.querySelector<SVGRectElement>('.box')!.getBBox()
      return [...box.querySelectorAll('text')]
        .filter((text) => text.getBBox().width > width - 8)
        .map((text) => text.textContent)
    }),
  )
  expect(tight).toEqual([])
  await page.locator('.memory .segment', { hasText: /^b$/ }).click()
  await expect.poll(() => page.locator('.memory line').count()).toBe(4)
  expect(faults).toEqual([])
})
