// @ts-check
/** Measures the memory of a page's process as reported by the operating system. */
import { readFileSync } from 'node:fs'

/**
 * Returns the memory of the largest renderer process in bytes, from /proc/<pid>/smaps_rollup. The
 * function reads the proportional set size, which counts private pages fully and shared pages in
 * part. The browser's spare renderer process is smaller than the page's process. Returns null on
 * systems without smaps_rollup.
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
