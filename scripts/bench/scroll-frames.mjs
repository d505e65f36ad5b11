// @ts-check
/**
 * Measures frame times during scrolling.
 *
 * A frame time is the time between two animation frames of the page. The module also measures the
 * CPU time of the page's thread, because CPU time does not depend on other load.
 */

/**
 * Scrolls an element to its end, one wheel step per frame.
 * @param {import('playwright-core').Page} page
 * @param {string} selector
 * @param {{ x?: number, y?: number }} step pixels per frame
 * @param {number} frames
 * @returns {Promise<number[]>} milliseconds of each frame
 */
export const scrollFrames = (page, selector, step, frames) =>
  page
    .locator(selector)
    .first()
    .evaluate(
      async (element, { step, frames }) => {
        /** @returns {Promise<number>} */
        const frame = () =>
          new Promise((done) => /** @type {any} */ (globalThis).requestAnimationFrame(done))
        /** @type {number[]} */
        const times = []
        let last = await frame()
        let [down, right] = [1, 1]
        for (let index = 0; index < frames; index += 1) {
          const { scrollTop, scrollLeft } = element
          element.scrollBy({
            top: (step.y ?? 0) * down,
            left: (step.x ?? 0) * right,
            behavior: 'instant',
          })
          // Reverse the direction at each end, so that every frame scrolls.
          if (step.y && element.scrollTop === scrollTop) down *= -1
          if (step.x && element.scrollLeft === scrollLeft) right *= -1
          const now = await frame()
          times.push(now - last)
          last = now
        }
        return times
      },
      { step, frames },
    )

/**
 * Returns the CPU time in milliseconds of the page's main thread while `work` runs. The CPU time
 * includes script, style, layout and paint.
 * @template T
 * @param {import('playwright-core').Page} page
 * @param {() => Promise<T>} work
 * @returns {Promise<{ value: T, cpuMs: number }>}
 */
export async function withThreadTime(page, work) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const spent = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000
  }
  const before = await spent()
  const value = await work()
  const cpuMs = (await spent()) - before
  await devtools.detach()
  return { value, cpuMs }
}
