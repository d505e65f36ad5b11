/**
 * Starts the real web host and core with the built-in recordings, and opens pages in a headless
 * browser.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  type Page,
} from 'playwright-core'
import axe, { type AxeResults } from 'axe-core'
import { onTestFailed } from 'vitest'
import { type HostMachine } from '../../src-main/adapters/machine/machine'
import type { Core } from '../../src-main/contract/index'
import type { Session } from '../../src-main/domain/session/session'
import { startWebHost, type WebHost } from '../../src-main/hosts/web/server'
import { createCore } from '../../src-main/services/app/core'
import { afterTest } from '../support'
import { setUp } from '../../src-main/adapters/machine/local-machine'
import { findChromium } from '../../scripts/lib/chromium.mjs'

const rendererDir = join(import.meta.dirname, '../../out/renderer')

export interface Harness {
  core: Core
  browser: Browser
  /** The address of the web host. */
  origin: string
  /**
   * Opens a signed-in page at a hash route, and returns the page with its errors. The page is
   * closed after the test, so that later tests cannot see its state.
   */
  open(route?: string, options?: OpenOptions): Promise<OpenPage>
  /**
   * Navigates an open page to a route, in a quarter of the time that a new page takes. Use this
   * function only to test the content of a screen. The test must not filter or select anything that
   * several screens share. The page is reused only if the test passed and changed no stored
   * choices.
   */
  visit(route: string, options?: OpenOptions): Promise<OpenPage>
  stop(): Promise<void>
}

export interface OpenOptions {
  width?: number
  dark?: boolean
  /** The system language. */
  locale?: string
}

export interface OpenPage {
  page: Page
  /** Page and console errors, including CSP violations. */
  faults: string[]
}

/**
 * Prevents Playwright from ending this process on a signal, because other tests in the process may
 * send signals.
 */
export const ignoringSignals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }

/**
 * Launches the browser. `npm test` sets the browser's path. If the tests run under plain
 * `vitest --project built`, this function searches for the browser.
 */
async function launch(): Promise<Browser> {
  const executablePath = await findChromium()
  if (executablePath === undefined)
    throw new Error('No Chromium was found. Install one, or set CHROME_PATH to its executable.')
  return chromium.launch({
    executablePath,
    ...ignoringSignals,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      // Starting a process per page would take as long as loading the page.
      '--process-per-site',
      // A streamed script is compiled at each load. Without streaming, the process reuses the
      // compiled script.
      '--disable-features=ScriptStreaming,PaintHolding',
      // JIT optimization does not pay off, because pages are closed soon.
      '--js-flags=--invocation-count-for-maglev=4000,--invocation-count-for-turbofan=30000',
    ],
  })
}

let shared: Promise<Browser> | undefined

/**
 * Returns the browser that all test files in a worker share. The browser closes when the worker
 * ends.
 */
export const sharedBrowser = (): Promise<Browser> => (shared ??= launch())

/** The session cookie set by the link that `serve` prints. */
interface Cookie {
  name: string
  value: string
  url: string
}

async function signIn(host: WebHost): Promise<Cookie> {
  const { headers } = await fetch(host.newUrl(), { redirect: 'manual' })
  const [name = '', value = ''] = (headers.getSetCookie()[0] ?? '').split(';')[0]!.split('=')
  return { name, value, url: host.origin }
}

/** Waits until the page has stopped changing. */
export const settled = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((done) => {
        const finish = (): void => {
          observer.disconnect()
          done()
        }
        let timer = setTimeout(finish, 100)
        const observer = new MutationObserver(() => {
          clearTimeout(timer)
          timer = setTimeout(finish, 100)
        })
        observer.observe(document, { subtree: true, childList: true, attributes: true })
      }),
  )

/** Closes a context's pages and clears its local storage, cookies, and permissions. */
async function forget(context: BrowserContext): Promise<void> {
  const pages = context.pages().filter((page) => !keepers.has(page) && !left.has(page))
  await Promise.all(
    pages.map((page) => page.evaluate(() => localStorage.clear()).catch(() => undefined)),
  )
  await Promise.all(pages.map((page) => page.close()))
  await context.clearCookies()
  await context.clearPermissions()
}

/**
 * Browser contexts by language. A context caches compiled scripts by address, so a worker uses one
 * context per language. For the same reason, every web host uses the port of the first host.
 */
const contexts = new Map<string, Promise<BrowserContext>>()
const inUse = new Set<string>()
const usualLocale = 'en-US'
/** Empty pages that keep the renderer process of each context alive. */
const keepers = new WeakSet<Page>()
/** Pages that an earlier `visit` left open for reuse. */
const left = new WeakSet<Page>()
let usualPort = 0

async function newContext(locale: string, origin: string): Promise<BrowserContext> {
  const browser = await sharedBrowser()
  const context = await browser.newContext({ locale, reducedMotion: 'reduce' })
  // On a busy machine, Playwright's default timeout may be too short.
  context.setDefaultTimeout(120_000)
  // Keep one page open, because the renderer process ends with its last page.
  const keeper = await context.newPage()
  await keeper.goto(`${origin}/nothing`)
  keepers.add(keeper)
  return context
}

/** Navigates to a route without a screen, which closes all panels and dialogs. */
export async function leaveScreen(page: Page): Promise<void> {
  await page.evaluate(() => void (location.hash = '#/nowhere'))
  await page.locator('main a[href="#/"]').waitFor()
}

/**
 * Resets a visited page and returns whether it can be reused. A page can be reused if no panel is
 * open and no choice is stored.
 */
async function leave(page: Page): Promise<boolean> {
  if (page.isClosed()) return false
  await page.mouse.move(0, 0)
  await leaveScreen(page)
  return page.evaluate(
    () =>
      localStorage.length === 0 &&
      document.querySelector('[role="dialog"], [role="menu"], [role="tooltip"]') === null,
  )
}

/** Returns a page in a browser context that no other page is using. */
async function newPage(locale: string, cookie: Cookie): Promise<{ page: Page; isShared: boolean }> {
  const isShared = !inUse.has(locale)
  inUse.add(locale)
  const making = (isShared && contexts.get(locale)) || newContext(locale, cookie.url)
  if (isShared) contexts.set(locale, making)
  const context = await making
  let isOpen = true
  context.once('close', () => {
    isOpen = false
    if (isShared) contexts.delete(locale)
  })
  afterTest(async () => {
    if (isOpen) await (isShared ? forget(context) : context.close())
  })
  await context.addCookies([cookie])
  // A page opened through the browser API would start in its own process and then move to the
  // shared process.
  const keeper = context.pages().find((one) => keepers.has(one))!
  const [page] = await Promise.all([
    context.waitForEvent('page'),
    keeper.evaluate(() => void window.open('about:blank')),
  ])
  if (isShared) page.once('close', () => left.has(page) || inUse.delete(locale))
  return { page, isShared }
}

/**
 * Starts the host and core. `machine` replaces the machine that the environment variables
 * configure.
 */
export async function startHarness(machine?: HostMachine): Promise<Harness> {
  if (!existsSync(join(rendererDir, 'index.html')))
    throw new Error('The UI is not built. Run `npm run build` first.')
  const setup = await setUp()
  const core = createCore(machine ? { ...setup, machine } : setup, { host: 'web' })
  const start = (port: number) => startWebHost({ core, rendererDir, port })
  // If another program already uses the usual port, let the system choose one.
  const host = await start(usualPort).catch(() => start(0))
  if (usualPort === 0) usualPort = Number(new URL(host.origin).port)
  const [browser, cookie] = await Promise.all([sharedBrowser(), signIn(host)])

  /** Collects a page's errors until the test ends. */
  const faultsOf = (page: Page): string[] => {
    const faults: string[] = []
    const onError = (error: Error) => faults.push(error.message)
    const onConsole = (message: ConsoleMessage) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    }
    page.on('pageerror', onError).on('console', onConsole)
    afterTest(() => page.off('pageerror', onError).off('console', onConsole))
    return faults
  }
  /**
   * Sets the window size and theme per page, because pages of all sizes and themes share a browser
   * context.
   */
  async function show(
    page: Page,
    route: string,
    { width = 1280, dark = false }: OpenOptions,
  ): Promise<OpenPage> {
    const faults = faultsOf(page)
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await page.goto(`${host.origin}/#${route}`)
    return { page, faults }
  }
  /** Reusable pages by language. */
  const visited = new Map<string, Page>()

  return {
    core,
    browser,
    origin: host.origin,
    async open(route = '', options = {}) {
      const { page } = await newPage(options.locale ?? usualLocale, cookie)
      return show(page, route, options)
    },
    async visit(route, options = {}) {
      const { locale = usualLocale } = options
      const known = inUse.has(locale) ? undefined : visited.get(locale)
      const { page, isShared } = known
        ? { page: known, isShared: true }
        : await newPage(locale, cookie)
      if (known) {
        visited.delete(locale)
        left.delete(known)
        inUse.add(locale)
        await known.context().addCookies([cookie])
      }
      if (isShared) {
        afterTest(async () => {
          if (!(await leave(page).catch(() => false))) return forget(page.context())
          visited.set(locale, page)
          left.add(page)
          inUse.delete(locale)
        })
        onTestFailed(() => {
          visited.delete(locale)
          return page.close()
        })
      }
      return show(page, route, options)
    },
    async stop() {
      await Promise.all([...visited.values()].map((page) => page.close()))
      await host.close()
      await core.close()
    },
  }
}

/**
 * Creates a session store for a whole test file. The store in services/support lasts only for a
 * single test.
 */
export async function ownStore(): Promise<{ store: string; remove(): Promise<void> }> {
  const data = await mkdtemp(join(tmpdir(), 'kl-test-'))
  const before = process.env['KERNEL_LADDER_DATA']
  process.env['KERNEL_LADDER_DATA'] = data
  return {
    store: join(data, 'sessions'),
    async remove() {
      if (before === undefined) delete process.env['KERNEL_LADDER_DATA']
      else process.env['KERNEL_LADDER_DATA'] = before
      await rm(data, { recursive: true, force: true })
    },
  }
}

/** Returns the recording that the program opens by default, as the core reads it. */
export async function shippedSession(core: Core): Promise<{ ref: string; session: Session }> {
  const [ref] = (await core.call('sessions.list', {}))
    .filter(({ kind, ladder, problem }) => {
      return kind === 'recorded' && ladder.id === 'gemm-fp32' && problem?.sizes.m === 4096
    })
    .map((summary) => summary.ref)
  if (ref === undefined) throw new Error('gemm-fp32 at 4096 does not ship with the program.')
  return { ref, session: await core.call('sessions.get', { ref }) }
}

export const ladderRoute = (ref: string): string => `/session/${encodeURIComponent(ref)}/ladder`
export const compareRoute = (ref: string, a: string, b: string): string =>
  `/session/${encodeURIComponent(ref)}/compare/${a}/${b}`

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** axe rules whose result can differ between themes. */
export const rulesOfColor = ['color-contrast', 'link-in-text-block']

/** Returns the accessibility faults on a page, each with its rule and location. */
export async function seriousFaults(
  page: Page,
  runOnly: readonly string[] = everyRule,
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  // Transfer only axe's violations from the page to the test.
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ['violations'] })}).then(({ violations }) => violations)`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

// Functions that find English sentences on a page in another language. An English sentence
// indicates a missing translation.

/** Returns a page's text without code, including text for assistive technology. */
const textsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const code =
      'code, pre, kbd, samp, script, style, annotation, .cm-editor, textarea, [lang="en"]'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found: string[] = []
    // Group text by block, so that a sentence that contains code stays in one piece.
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      if (parent && !parent.closest(code)) found.push(node.textContent ?? '')
    }
    for (const element of document.body.querySelectorAll('[aria-label], [alt], [placeholder]'))
      for (const name of ['aria-label', 'alt', 'placeholder'])
        if (!element.closest('.cm-editor')) found.push(element.getAttribute(name) ?? '')
    // CodeMirror shows its messages between the lines of code.
    for (const { shadowRoot } of document.querySelectorAll('*'))
      for (const said of shadowRoot?.querySelectorAll('.cm-collapsedLines, .cm-panel') ?? [])
        found.push(said.textContent ?? '')
    // Include the labels in SVG images.
    for (const { src } of document.images)
      if (src.startsWith('data:image/svg+xml,'))
        for (const [label] of decodeURIComponent(src).matchAll(/(?<=>)[^<>]+(?=<\/)/g))
          found.push(label)
    return found
  })

/** Matches four plain words in a row, excluding names, units, and options. */
const sentence = /(?:^|[^\p{L}\d_])[A-Za-z]+(?: [a-z]{2,}){3,}/u
/**
 * Matches two English words, such as an article and a noun, inside a sentence in another language.
 */
const fragment = /(?<![\w.-])(?:the|an|of|are|was|has|with|and) [a-z]{2,}(?![\w.])/
/**
 * Returns whether a text is English. A text with five lowercase Latin words is also English if it
 * has no Korean or Chinese letters.
 */
const isEnglish = (text: string): boolean =>
  sentence.test(text) ||
  fragment.test(text) ||
  (!/[\p{Script=Hangul}\p{Script=Han}]/u.test(text) &&
    [...text.matchAll(/(?<![\w.-])[a-z]{2,}(?![\w-])/g)].length >= 5)

/**
 * Returns the English sentences on a page. `authored` lists the text of third-party labs and
 * ladders, which is not translated.
 */
export async function englishOn(page: Page, authored: readonly string[] = []): Promise<string[]> {
  const left = (await textsOf(page)).map((text) =>
    authored.reduce((rest, own) => rest.replaceAll(own, ' · '), text).trim(),
  )
  return [...new Set(left.filter(isEnglish))]
}
