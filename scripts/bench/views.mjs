// @ts-check
/**
 * Defines the views that the benchmarks measure, and the steps to open them.
 * test/browser/matrix.test.ts uses the same code.
 */

/** @typedef {import('playwright-core').Page} Page */

/**
 * Screens to scroll. Each view has a route and two selectors. One selector finds an element that
 * appears when the screen is ready. The other selector finds the element to scroll.
 */
export const grids = {
  /** @param {{ rungs: number }} of */
  ladder: ({ rungs }) => ({
    view: 'ladder',
    ready: `[aria-rowcount="${rungs + 2}"] tr[data-rung]`,
    scroller: '.scroller',
  }),
  /** Shows all metrics from ncu. @param {{ rungs: number }} of */
  matrix: ({ rungs }) => ({
    view: 'matrix?metrics=all',
    ready: `[aria-colcount="${rungs + 1}"] [role="gridcell"]`,
    scroller: '.matrix .scroller',
  }),
}

/**
 * @param {Page} page signed in
 * @param {string} address the server's
 * @param {string} ref a session
 * @param {{ view: string, ready: string }} of
 */
export async function openView(page, address, ref, { view, ready }) {
  // Load a blank page first, because a screen that is already open would keep its current view.
  await page.goto('about:blank')
  await page.goto(new URL(`/#/session/${encodeURIComponent(ref)}/${view}`, address).href)
  await page.locator(ready).first().waitFor()
}

/** Selector of the scrolled element in the whole-kernel view. */
export const machineCode = '.sass-list'

/**
 * Opens the whole-kernel view of a pair of rungs.
 * @param {Page} page signed in
 * @param {string} address
 * @param {string} ref
 * @param {readonly string[]} pair
 */
export async function openMachineCode(page, address, ref, pair) {
  await openPair(page, address, ref, pair, '.compare .headline')
  await page.keyboard.press('m')
  await page.locator(`${machineCode} .row`).first().waitFor()
}

/**
 * Opens the source comparison of a pair of rungs.
 * @param {Page} page signed in
 * @param {string} address
 * @param {string} ref
 * @param {readonly string[]} pair
 * @param {string} [ready]
 */
export const openPair = (page, address, ref, pair, ready = '.cm-content') =>
  openView(page, address, ref, { view: `compare/${pair.join('/')}`, ready })
