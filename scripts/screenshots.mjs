// @ts-check
/**
 * `npm run screenshots [-- --language ko] [-- name …]`: every screen over the shipped recordings, in both
 * themes, 1280 and 1920 px wide, into out/screenshots. To be looked at, not compared.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt } from './lib/build.mjs'
import { obtainChromium } from './lib/chromium.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { nodePath } from './lib/node.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

const folder = join(root, 'out/screenshots')
const program = join(root, 'dist/cli/kernel-ladder.mjs')
const report = join(root, 'test/captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep')
const session = '/session/recorded:gemm-fp32-h200-4096'

/** @typedef {{ route: string, ready: string, act?: (page: import('playwright-core').Page) => Promise<void> }} Screen */

/** @type {Record<string, Screen>} */
const screens = {
  ladder: { route: `${session}/ladder`, ready: 'canvas' },
  'ladder-details': {
    route: `${session}/ladder`,
    ready: 'canvas',
    act: (page) => page.locator('tr[data-rung="06_float4"] .expand').click(),
  },
  'ladder-seed': { route: '/session/recorded:seed-rtx3090-h200-1024/ladder', ready: 'canvas' },
  matrix: { route: `${session}/matrix`, ready: '[role="gridcell"]' },
  'ladder-negative': { route: '/session/recorded:seed-cutlass-h200/ladder', ready: 'canvas' },
  compare: { route: `${session}/compare/02_coalesced/03_shared_tile`, ready: '.cm-line' },
  sessions: { route: '/sessions', ready: 'tr[data-session]' },
  run: { route: '/run', ready: 'select' },
  charts: { route: `${session}/charts`, ready: 'canvas' },
  export: { route: `${session}/export`, ready: 'main h1, main h2' },
  occupancy: { route: '/occupancy', ready: 'main h1, main h2' },
  checks: { route: '/run/checks', ready: 'main h1, main h2' },
  labs: { route: '/labs', ready: 'main h1, main h2' },
  doctor: { route: '/doctor', ready: 'h2' },
  missing: { route: '/nowhere', ready: 'h1, h2' },
}

const { values, positionals } = parseArgs({
  options: { language: { type: 'string', default: 'en' } },
  allowPositionals: true,
})

await runScript(async () => {
  const unknown = positionals.find((name) => !Object.hasOwn(screens, name))
  if (unknown !== undefined)
    throw new PlainError(`There is no screen "${unknown}": ${Object.keys(screens).join(', ')}.`, 2)
  await ensureInstalled()
  await ensureBuilt(['cli'])
  const executablePath = await obtainChromium()
  const { chromium } = await import('playwright-core')
  mkdirSync(folder, { recursive: true })
  // A store of its own, with an import in it: whoever takes the pictures has other sessions.
  const data = mkdtempSync(join(tmpdir(), 'kernel-ladder-screenshots-'))
  const env = { ...process.env, KERNEL_LADDER_DATA: data }
  execFileSync(nodePath(), [program, 'import', report], { env, stdio: 'ignore' })
  const server = spawn(nodePath(), [program, 'serve'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const address = await new Promise((done, failed) => {
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      const found = /(http:\S+)/.exec(chunk)?.[1]
      if (found) done(found)
    })
    server.on('exit', () => failed(new PlainError('The server ended before it said its address.')))
  })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  try {
    const first = await browser.newContext()
    await (await first.newPage()).goto(address)
    const storageState = await first.storageState()
    for (const [width, height] of [
      [1280, 800],
      [1920, 1080],
    ])
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        const context = await browser.newContext({
          storageState,
          colorScheme,
          locale: values.language,
          reducedMotion: 'reduce',
          viewport: {
            width: /** @type {number} */ (width),
            height: /** @type {number} */ (height),
          },
        })
        for (const [name, screen] of Object.entries(screens)) {
          if (positionals.length > 0 && !positionals.includes(name)) continue
          const page = await context.newPage()
          await page.goto(new URL(`/#${screen.route}`, address).href)
          await page.locator(screen.ready).first().waitFor()
          await screen.act?.(page)
          // Charts draw in their own time, without an event that a page could wait for.
          await page.waitForTimeout(500)
          const language = values.language === 'en' ? '' : `-${values.language}`
          const path = join(folder, `${name}-${width}-${colorScheme}${language}.png`)
          await page.screenshot({ path })
          await page.close()
        }
        await context.close()
      }
    say(`The pictures are in ${folder}.`)
  } finally {
    await browser.close()
    server.kill('SIGTERM')
    rmSync(data, { recursive: true, force: true })
  }
  return undefined
})
