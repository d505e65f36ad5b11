/** What pages, frames and the program itself are to the host. */
import { EventEmitter } from 'node:events'

export class FakeEvent {
  defaultPrevented = false
  preventDefault(): void {
    this.defaultPrevented = true
  }
}

export class FakeApp extends EventEmitter {
  hasLock = true
  sandboxed = false
  isReady = false
  isPackaged = true
  quitCalls = 0
  hasQuit = false
  exitCode: number | undefined
  #resolveReady = (): void => {}
  readonly #ready = new Promise<void>((resolve) => (this.#resolveReady = resolve))

  requestSingleInstanceLock(): boolean {
    return this.hasLock
  }

  enableSandbox(): void {
    if (this.isReady) throw new Error('app.enableSandbox() can only be called before app is ready')
    this.sandboxed = true
  }

  whenReady(): Promise<void> {
    return this.#ready
  }

  becomeReady(): void {
    this.isReady = true
    this.#resolveReady()
  }

  quit(): void {
    this.quitCalls += 1
    const event = new FakeEvent()
    this.emit('before-quit', event)
    this.hasQuit ||= !event.defaultPrevented
  }

  exit(code: number): void {
    this.exitCode = code
  }
}

export interface FakeFrame {
  url: string
  origin: string
  parent: FakeFrame | null
}

export class FakeWebContents extends EventEmitter {
  sent: { channel: string; args: unknown[] }[] = []
  reloads = 0
  destroyed = false
  openHandler: ((details: { url: string }) => { action: string }) | undefined
  mainFrame: FakeFrame = {
    url: 'app://kernel-ladder/',
    origin: 'app://kernel-ladder',
    parent: null,
  }

  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.openHandler = handler
  }

  printed: object[] = []

  async printToPDF(options: object): Promise<Uint8Array> {
    this.printed.push(options)
    return Uint8Array.of(37, 80, 68, 70)
  }

  send(channel: string, ...args: unknown[]): void {
    if (this.destroyed) throw new TypeError('Object has been destroyed')
    this.sent.push({ channel, args: structuredClone(args) })
  }

  isDestroyed(): boolean {
    return this.destroyed
  }

  reload(): void {
    this.reloads += 1
  }

  /** Whether the host let the event happen. */
  allows(name: string): boolean {
    const event = new FakeEvent()
    this.emit(name, event, {}, {})
    return !event.defaultPrevented
  }
}
