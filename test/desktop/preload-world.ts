/// <reference lib="dom" />
/**
 * Runs the real preload script in an isolated world of a real Chromium, with the real IPC handlers.
 * Only Electron's parts are simulated: the bridge between the two worlds and the channel to the
 * main process.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import type { FakeElectron } from '../hosts/electron/fake-electron'

const preload = join(import.meta.dirname, '../../out/preload/index.cjs')
const world = 'kernel-ladder-preload'

/**
 * Runs in the page's world and defines the functions that the preload passed to `contextBridge`.
 * Events cross between the worlds synchronously, and their `detail` is a structured clone.
 * Functions remain in their world and are referenced by number.
 */
function pageSide(): void {
  const listeners = new Map<number, (value: unknown) => void>()
  let last = 0
  const ask = (detail: object): { value?: unknown; later?: number; end?: number } => {
    let answer = {}
    const take = (event: Event): void => void (answer = (event as CustomEvent<object>).detail)
    addEventListener('kl-answer', take, { once: true })
    dispatchEvent(new CustomEvent('kl-ask', { detail }))
    removeEventListener('kl-answer', take)
    return answer
  }
  addEventListener('kl-later', (event) => {
    const { id, value } = (event as CustomEvent<{ id: number; value: unknown }>).detail
    listeners.get(id)?.(value)
  })
  const member =
    (name: string) =>
    (...args: unknown[]): unknown => {
      const sent = args.map((arg) => {
        // A File object cannot cross between the worlds, so send the file's name.
        if (arg instanceof File) return { file: arg.name }
        if (typeof arg !== 'function') return { value: arg }
        listeners.set(++last, arg as (value: unknown) => void)
        return { listener: last }
      })
      const { value, later, end } = ask({ name, args: sent })
      if (end !== undefined) return () => void ask({ end })
      if (later === undefined) return value
      return new Promise((done) => listeners.set(later, done))
    }
  Object.defineProperty(window, 'kernelLadder', {
    value: Object.fromEntries(
      ['call', 'importFile', 'chooseFolder', 'subscribe'].map((name) => [name, member(name)]),
    ),
  })
}

/** Runs in the preload's world and defines the `require('electron')` of a sandboxed preload. */
function preloadSide(): void {
  type Listener = (event: object, message: unknown) => void
  const own = globalThis as unknown as {
    klSend(text: string): void
    klReply(id: number, value: unknown): void
    klEvent(channel: string, message: unknown): void
    require(name: string): object
  }
  const waiting = new Map<number, (value: unknown) => void>()
  const listeners = new Map<string, Set<Listener>>()
  const ends = new Map<number, () => void>()
  let last = 1_000_000
  own.klReply = (id, value) => waiting.get(id)?.(value)
  own.klEvent = (channel, message) => {
    for (const listener of listeners.get(channel) ?? []) listener({}, message)
  }
  const ipcRenderer = {
    invoke: (channel: string, ...args: unknown[]) =>
      new Promise((done) => {
        waiting.set(++last, done)
        own.klSend(JSON.stringify({ id: last, channel, args }))
      }),
    on: (channel: string, listener: Listener) =>
      listeners.set(channel, (listeners.get(channel) ?? new Set()).add(listener)),
    removeListener: (channel: string, listener: Listener) =>
      listeners.get(channel)?.delete(listener),
  }
  const later = (id: number, value: unknown): boolean =>
    dispatchEvent(new CustomEvent('kl-later', { detail: { id, value } }))
  const contextBridge = {
    exposeInMainWorld(_name: string, api: Record<string, (...args: unknown[]) => unknown>) {
      const answer = (detail: object): boolean =>
        dispatchEvent(new CustomEvent('kl-answer', { detail }))
      addEventListener('kl-ask', (event) => {
        const { name, args, end } = (
          event as CustomEvent<{
            name: string
            args: { value?: unknown; listener?: number; file?: string }[]
            end?: number
          }>
        ).detail
        if (end !== undefined) {
          ends.get(end)?.()
          return answer({})
        }
        const given = args.map(({ value, listener, file }) =>
          file !== undefined
            ? new File([], file)
            : listener === undefined
              ? value
              : (message: unknown) => later(listener, message),
        )
        const found = api[name]!(...given)
        if (typeof found === 'function') {
          ends.set(++last, found as () => void)
          return answer({ end: last })
        }
        if (!(found instanceof Promise)) return answer({ value: found })
        const id = ++last
        void found.then((value) => later(id, value))
        return answer({ later: id })
      })
    },
  }
  // Electron's getPathForFile returns the real path of a File object. The fake Electron derives the
  // path from the file's name.
  const webUtils = { getPathForFile: (file: File) => `/files/${file.name}` }
  own.require = (name) => {
    if (name !== 'electron') throw new Error(`A sandboxed preload cannot load ${name}`)
    return { ipcRenderer, contextBridge, webUtils }
  }
}

/** @param pathOf returns the path of a user-selected file, given the name of the file */
export async function withPreload(
  page: Page,
  electron: FakeElectron,
  pathOf: (name: string) => string,
): Promise<string[]> {
  const client: CDPSession = await page.context().newCDPSession(page)
  const called: string[] = []
  let contextId = 0
  await client.send('Page.enable')
  await client.send('Runtime.enable')
  client.on('Runtime.executionContextCreated', ({ context }) => {
    if (context.name === world) contextId = context.id
  })
  await client.send('Runtime.addBinding', { name: 'klSend', executionContextName: world })
  const inWorld = (expression: string): Promise<unknown> =>
    client.send('Runtime.evaluate', { contextId, expression }).catch(() => undefined)
  client.on('Runtime.bindingCalled', ({ name, payload }) => {
    if (name !== 'klSend') return
    const { id, channel, args } = JSON.parse(payload) as {
      id: number
      channel: string
      args: unknown[]
    }
    const sender = electron.windows[0]!.webContents
    const event = { sender, senderFrame: sender.mainFrame }
    const [first] = args as [{ name?: string } | string | undefined]
    called.push(typeof first === 'object' && first?.name ? first.name : channel)
    const given = args.map((arg) =>
      typeof arg === 'string'
        ? arg.replace(/^\/files\/(.*)$/, (_, file: string) => pathOf(file))
        : arg,
    )
    void Promise.resolve(electron.handlers.get(channel)!(event, ...given)).then((value) =>
      inWorld(`klReply(${id}, ${JSON.stringify(value ?? null)})`),
    )
  })
  const contents = electron.windows[0]!.webContents
  contents.send = (channel, message) => {
    void inWorld(`klEvent(${JSON.stringify(channel)}, ${JSON.stringify(message)})`)
  }
  const source = `(${preloadSide.toString()})();\n${await readFile(preload, 'utf8')}`
  await client.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: world })
  await page.addInitScript(pageSide)
  await page.route('**/*', async (route) => {
    const url = new URL(route.request().url())
    const answer = await electron.schemeHandlers.get('app')!(
      new Request(`app://kernel-ladder${url.pathname}`),
    )
    await route.fulfill({
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(await answer.arrayBuffer()),
    })
  })
  return called
}
