// @ts-check
/** A page under load: frame times of scrolling, and the memory of its process. */
import { readFileSync } from 'node:fs'

// Frame times of scrolling: the time between animation frames as the page sees them, and the CPU time of
// the page's thread, which a busy machine does not affect.

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
          // Reverses at an end, so that every frame scrolls.
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
 * CPU milliseconds that the page's main thread spends while `work` runs: script, style, layout, paint.
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

// The memory of a page's process, as the OS counts it.

/**
 * Proportional set size of the largest renderer process, in bytes: its private pages plus its share of
 * those shared with other processes, from /proc/<pid>/smaps_rollup. The browser keeps a spare renderer,
 * which is the smaller one. null if there is no such file (not Linux).
 * @param {import('playwright-core').Browser} browser
 */
export async function rendererBytes(browser) {
  const devtools = await browser.newBrowserCDPSession()
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo')
  await devtools.detach()
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => proportionalBytes(id))
    .filter((size) => size !== null)
  return sizes.length > 0 ? Math.max(...sizes) : null
}

/** @param {number} pid */
function proportionalBytes(pid) {
  try {
    const kib = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
    return kib === undefined ? null : Number(kib) * 1024
  } catch {
    return null
  }
}
