// @ts-check
/**
 * `npm run screenshots [-- --language ko] [-- --width 1000] [-- --theme dark] [-- name …]` captures
 * every screen and its states. The screens show the shipped recordings. Each screen is captured in
 * both themes at widths of 1280, 1440 and 1920 px. The images in out/screenshots are for manual
 * review, not for automatic comparison.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { show, signedIn, startBrowser, startServer } from './lib/pictures.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'
import { screens, staged, states, wordsOf } from './lib/screens.mjs'

const folder = join(root, 'out/screenshots')
/** @type {Record<number, number>} */
const heights = { 1000: 700, 1280: 800, 1440: 900, 1920: 1080, 3840: 2160 }
const all = { ...screens, ...states, ...staged }

const { values, positionals } = parseArgs({
  options: {
    language: { type: 'string', default: 'en' },
    width: { type: 'string', multiple: true },
    theme: { type: 'string', multiple: true, default: ['light', 'dark'] },
  },
  allowPositionals: true,
})

/** @param {number} width */
const namesAt = (width) => {
  if (positionals.length > 0) return positionals
  return Object.keys(width === 1280 ? all : screens)
}

await runScript(async () => {
  const unknown = positionals.find((name) => !Object.hasOwn(all, name))
  if (unknown !== undefined)
    throw new PlainError(`There is no screen "${unknown}": ${Object.keys(all).join(', ')}.`, 2)
  await ensureInstalled()
  await ensureBuilt(['cli'])
  mkdirSync(folder, { recursive: true })
  const scratch = mkdtempSync(join(tmpdir(), 'kernel-ladder-screenshots-'))
  const server = await startServer()
  const browser = await startBrowser()
  const failed = []
  try {
    const { state: storageState, close } = await signedIn(browser, server.address, {})
    await close()
    for (const width of (values.width ?? ['1280', '1440', '1920']).map(Number))
      for (const colorScheme of /** @type {('light' | 'dark')[]} */ (values.theme)) {
        const options = {
          colorScheme,
          locale: values.language,
          viewport: { width, height: heights[width] ?? Math.round(width * 0.6) },
        }
        for (const name of namesAt(width)) {
          const screen = /** @type {import('./lib/screens.mjs').Screen} */ (
            all[/** @type {keyof typeof all} */ (name)]
          )
          // The faults of fake tools are set when a server starts, so these screens need a separate
          // server.
          const own = screen.faults === undefined ? undefined : await startServer(screen)
          const address = (own ?? server).address
          const { page, close } = own
            ? await signedIn(browser, address, options)
            : await newPage(browser, { ...options, storageState })
          const language = values.language === 'en' ? '' : `-${values.language}`
          const path = join(folder, `${name}-${width}-${colorScheme}${language}.png`)
          try {
            await show(page, address, screen, scratch, wordsOf(values.language))
          } catch (error) {
            failed.push(name)
            say(`${name}: ${error instanceof Error ? error.message : String(error)}`)
          }
          await page.screenshot({ path })
          await close()
          await own?.stop()
        }
      }
    say(`The screenshots are in ${folder}.`)
  } finally {
    await browser.close()
    await server.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
  return failed.length > 0 ? 1 : 0
})

/**
 * @param {import('playwright-core').Browser} browser
 * @param {import('playwright-core').BrowserContextOptions} options
 */
async function newPage(browser, options) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  return { page: await context.newPage(), close: () => context.close() }
}
