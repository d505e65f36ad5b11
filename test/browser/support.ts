/** The real web host and core over the shipped recordings, seen through a headless browser. */
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
  /** Where the web host is. */
  origin: string
  /**
   * A signed-in page at this hash route, with what went wrong on it. It is closed after the test, and no later one
   * finds anything of it.
   */
  open(route?: string, options?: OpenOptions): Promise<OpenPage>
  /**
   * The page that an earlier visit left, led to this route as a link would: a quarter of the work of a new one. For a test
   * of what a screen shows, that neither narrows nor marks what other screens share. A page is left only by a test that
   * passed, and with nothing on it that was chosen.
   */
  visit(route: string, options?: OpenOptions): Promise<OpenPage>
  stop(): Promise<void>
}

export interface OpenOptions {
  width?: number
  dark?: boolean
  /** The system's language. */
  locale?: string
}

export interface OpenPage {
  page: Page
  /** Errors of the page and its console, violations of the content security policy among them. */
  faults: string[]
}

/** A test of another file in this process may send it a signal, at which Playwright would end the process. */
export const ignoringSignals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }

/** `npm test` names the browser; a plain `vitest --project built` finds it here. */
async function launch(): Promise<Browser> {
  const executablePath = await findChromium()
  if (executablePath === undefined)
    throw new Error('No Chromium was found. Install one, or set CHROME_PATH to its executable.')
  return chromium.launch({
    executablePath,
    ...ignoringSignals,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      // A process of its own for each page takes as long as the page.
      '--process-per-site',
      // A script that is compiled while it arrives is compiled at each load; otherwise the process has it from the last one.
      '--disable-features=ScriptStreaming,PaintHolding',
      // No page lasts long enough for much of its code to be worth optimizing.
      '--js-flags=--invocation-count-for-maglev=4000,--invocation-count-for-turbofan=30000',
    ],
  })
}

let shared: Promise<Browser> | undefined

/** One for all files of a worker; it ends with the worker. */
export const sharedBrowser = (): Promise<Browser> => (shared ??= launch())

/** The cookie that a page gets from the link that `serve` prints. */
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

/** Waits until nothing on the page has changed for a moment. */
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

/** Closes the pages of a visitor, and what it had chosen and copied is forgotten. */
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
 * By language. A context keeps the scripts of a page compiled for as long as they have the same address, so it is one for
 * all tests of a worker, and every web host has the first one's port.
 */
const contexts = new Map<string, Promise<BrowserContext>>()
const inUse = new Set<string>()
const usualLocale = 'en-US'
/** A page of each context that has nothing on it. */
const keepers = new WeakSet<Page>()
/** Pages that a visit left for the next. */
const left = new WeakSet<Page>()
let usualPort = 0

async function newContext(locale: string, origin: string): Promise<BrowserContext> {
  const browser = await sharedBrowser()
  const context = await browser.newContext({ locale, reducedMotion: 'reduce' })
  // A busy machine may take longer than Playwright waits by default.
  context.setDefaultTimeout(120_000)
  // The process of the pages lasts as long as one of them.
  const keeper = await context.newPage()
  await keeper.goto(`${origin}/nothing`)
  keepers.add(keeper)
  return context
}

/** To an address without a screen, within the program: what was open on the one before is gone with it. */
export async function leaveScreen(page: Page): Promise<void> {
  await page.evaluate(() => void (location.hash = '#/nowhere'))
  await page.locator('main a[href="#/"]').waitFor()
}

/**
 * Whether what a visit leaves is as good as a new page, but for what the program has loaded. Then nothing is on it that
 * opens over screens, nor does it keep anything that was chosen.
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

/** A page whose context no other page in use has. */
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
  // Opened by the browser, it would begin in a process of its own, and leave it for that of the others.
  const keeper = context.pages().find((one) => keepers.has(one))!
  const [page] = await Promise.all([
    context.waitForEvent('page'),
    keeper.evaluate(() => void window.open('about:blank')),
  ])
  if (isShared) page.once('close', () => left.has(page) || inUse.delete(locale))
  return { page, isShared }
}

/** `machine`: what builds and runs, in place of the one that tests set up by their environment. */
export async function startHarness(machine?: HostMachine): Promise<Harness> {
  if (!existsSync(join(rendererDir, 'index.html')))
    throw new Error('The UI is not built. Run `npm run build` first.')
  const setup = await setUp()
  const core = createCore(machine ? { ...setup, machine } : setup, { host: 'web' })
  const start = (port: number) => startWebHost({ core, rendererDir, port })
  // Another harness may have it, or another program by now.
  const host = await start(usualPort).catch(() => start(0))
  if (usualPort === 0) usualPort = Number(new URL(host.origin).port)
  const [browser, cookie] = await Promise.all([sharedBrowser(), signIn(host)])

  /** What goes wrong on a page from now until the test ends. */
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
  /** The window and the theme are those of a page, and a context serves pages of every kind. */
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
  /** By language: what visits left. */
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

/** A folder of sessions for a whole file of tests; the one of services/support lasts for a single test. */
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

/** The recording that the program opens with, as the core reads it. */
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

// What axe finds on a page.

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** What can differ from one theme to the other. */
export const rulesOfColor = ['color-contrast', 'link-in-text-block']

/** Faults that keep someone out, each as the rule and where it is. */
export async function seriousFaults(
  page: Page,
  runOnly: readonly string[] = everyRule,
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  // What it found in order stays on the page.
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ['violations'] })}).then(({ violations }) => violations)`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

// English sentences on a page of another language: what a translation forgot.

/** Text of a page that a reader meets, without what is code, and with what assistive technology is told. */
const textsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const code =
      'code, pre, kbd, samp, script, style, annotation, .cm-editor, textarea, [lang="en"]'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found: string[] = []
    // By the block around it, so that a sentence with a name set as code is one text.
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      if (parent && !parent.closest(code)) found.push(node.textContent ?? '')
    }
    for (const element of document.body.querySelectorAll('[aria-label], [alt], [placeholder]'))
      for (const name of ['aria-label', 'alt', 'placeholder'])
        if (!element.closest('.cm-editor')) found.push(element.getAttribute(name) ?? '')
    // What an editor says by itself stands between the lines of its code.
    for (const { shadowRoot } of document.querySelectorAll('*'))
      for (const said of shadowRoot?.querySelectorAll('.cm-collapsedLines, .cm-panel') ?? [])
        found.push(said.textContent ?? '')
    // The labels of a picture that is an image.
    for (const { src } of document.images)
      if (src.startsWith('data:image/svg+xml,'))
        for (const [label] of decodeURIComponent(src).matchAll(/(?<=>)[^<>]+(?=<\/)/g))
          found.push(label)
    return found
  })

/** Four plain words in a row are no name, unit or option. */
const sentence = /(?:^|[^\p{L}\d_])[A-Za-z]+(?: [a-z]{2,}){3,}/u
/** A noun with its article, or two words joined, set into a sentence of another language. */
const fragment = /(?<![\w.-])(?:the|an|of|are|was|has|with|and) [a-z]{2,}(?![\w.])/
/** Nor are five among figures, in a text without a letter of the language. */
const isEnglish = (text: string): boolean =>
  sentence.test(text) ||
  fragment.test(text) ||
  (!/[\p{Script=Hangul}\p{Script=Han}]/u.test(text) &&
    [...text.matchAll(/(?<![\w.-])[a-z]{2,}(?![\w-])/g)].length >= 5)

/** `authored` is what the author of a lab or ladder from elsewhere wrote, shown as it was written. */
export async function englishOn(page: Page, authored: readonly string[] = []): Promise<string[]> {
  const left = (await textsOf(page)).map((text) =>
    authored.reduce((rest, own) => rest.replaceAll(own, ' · '), text).trim(),
  )
  return [...new Set(left.filter(isEnglish))]
}
