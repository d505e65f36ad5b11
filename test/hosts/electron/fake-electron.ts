/**
 * A fake of the Electron parts that the host uses. The fake enforces the Electron rules that the
 * host must follow. Calls that must precede `ready` throw an error after `ready`. Quitting can be
 * prevented, and a destroyed object throws an error. The Electron binary is not required.
 */
import { EventEmitter } from 'node:events'
import type { BrowserWindowConstructorOptions, MessageBoxOptions, WebPreferences } from 'electron'

// Pages, frames, and the app, as the host sees them.

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

  /** Returns whether the host allowed the event. */
  allows(name: string): boolean {
    const event = new FakeEvent()
    this.emit(name, event, {}, {})
    return !event.defaultPrevented
  }
}

type Handler = (event: unknown, ...args: unknown[]) => unknown
type PermissionHandlers = Record<
  'request' | 'check' | 'device',
  ((...args: never[]) => unknown) | null
>

export interface Scheme {
  scheme: string
  privileges: Record<string, boolean>
}

/** An Electron session other than the window's session. */
export interface Partition {
  name: string
  permissions: PermissionHandlers
  schemes: Map<string, (request: Request) => Response>
  session: unknown
}

const permissionsOf = (permissions: PermissionHandlers) => ({
  setPermissionRequestHandler: (handler: never) => (permissions.request = handler),
  setPermissionCheckHandler: (handler: never) => (permissions.check = handler),
  setDevicePermissionHandler: (handler: never) => (permissions.device = handler),
})

export function createFakeElectron() {
  const app = new FakeApp()
  const windows: FakeBrowserWindow[] = []
  const handlers = new Map<string, Handler>()
  const permissions: PermissionHandlers = { request: null, check: null, device: null }
  const schemes: Scheme[] = []
  const partitions: Partition[] = []
  const schemeHandlers = new Map<string, (request: Request) => Promise<Response>>()
  const errorBoxes: { title: string; content: string }[] = []
  const messageBoxes: MessageBoxOptions[] = []
  const folderDialogs: string[][] = []
  const exposed = new Map<string, unknown>()
  const opened: string[] = []
  const state = {
    messageBoxAnswer: 0,
    chosenFolder: null as string | null,
    loadFailure: undefined as Error | undefined,
    onCreateWindow: (): void => {},
    menu: undefined as unknown,
  }

  class FakeBrowserWindow extends EventEmitter {
    readonly webContents = new FakeWebContents()
    loaded: string[] = []
    shown = false
    focused = 0
    minimized = false
    destroyed = false

    constructor(readonly options: BrowserWindowConstructorOptions) {
      super()
      if (!app.isReady) throw new Error('Cannot create BrowserWindow before app is ready')
      windows.push(this)
      state.onCreateWindow()
      app.emit('web-contents-created', new FakeEvent(), this.webContents)
    }

    get preferences(): WebPreferences {
      return this.options.webPreferences ?? {}
    }

    async loadURL(url: string): Promise<void> {
      this.loaded.push(url)
      if (state.loadFailure) throw state.loadFailure
    }

    show(): void {
      this.shown = true
    }

    focus(): void {
      this.focused += 1
    }

    isMinimized(): boolean {
      return this.minimized
    }

    restore(): void {
      this.minimized = false
    }

    isDestroyed(): boolean {
      return this.destroyed
    }

    destroy(): void {
      this.destroyed = true
      this.webContents.destroyed = true
    }

    /** Closes the window as a user would. */
    close(): void {
      this.destroyed = true
      this.webContents.destroyed = true
      this.emit('closed')
      app.emit('window-all-closed')
    }
  }

  const ipcMain = {
    handle(channel: string, handler: Handler): void {
      if (handlers.has(channel))
        throw new Error(`Attempted to register a second handler for ${channel}`)
      handlers.set(channel, handler)
    },
    removeHandler(channel: string): void {
      handlers.delete(channel)
    },
    on(): never {
      throw new Error('Calls are answered; nothing listens for bare messages.')
    },
  }

  /**
   * The renderer side of IPC. The renderer side passes structured clones to the handlers of the
   * first window.
   */
  const rendererEvents = new EventEmitter()
  const ipcRenderer = Object.assign(rendererEvents, {
    invoke: async (channel: string, ...args: unknown[]): Promise<unknown> => {
      const sender = windows[0]!.webContents
      const event = { sender, senderFrame: sender.mainFrame }
      return structuredClone(await handlers.get(channel)!(event, ...structuredClone(args)))
    },
  })

  return {
    module: {
      app,
      BrowserWindow: FakeBrowserWindow,
      ipcMain,
      ipcRenderer,
      webUtils: {
        // Like Electron, return a path only for files from the file system, not for files created
        // in the page.
        getPathForFile: (file: unknown) => (file instanceof File ? import.meta.filename : ''),
      },
      nativeTheme: { themeSource: 'light', shouldUseDarkColors: false },
      contextBridge: {
        exposeInMainWorld: (name: string, value: unknown) => exposed.set(name, value),
      },
      protocol: {
        registerSchemesAsPrivileged(added: Scheme[]): void {
          if (app.isReady) throw new Error('protocol.registerSchemesAsPrivileged after ready')
          schemes.push(...added)
        },
        handle(scheme: string, handler: (request: Request) => Promise<Response>): void {
          schemeHandlers.set(scheme, handler)
        },
      },
      session: {
        defaultSession: permissionsOf(permissions),
        fromPartition(name: string): unknown {
          const own: Partition = {
            name,
            permissions: { request: null, check: null, device: null },
            schemes: new Map(),
            session: null,
          }
          own.session = {
            ...permissionsOf(own.permissions),
            protocol: {
              handle: (scheme: string, handler: (request: Request) => Response) =>
                own.schemes.set(scheme, handler),
            },
          }
          partitions.push(own)
          return own.session
        },
      },
      Menu: {
        buildFromTemplate: (template: unknown) => template,
        setApplicationMenu: (menu: unknown) => void (state.menu = menu),
      },
      shell: { openExternal: async (url: string) => void opened.push(url) },
      dialog: {
        showErrorBox: (title: string, content: string) => errorBoxes.push({ title, content }),
        async showOpenDialog(_window: unknown, { properties }: { properties: string[] }) {
          folderDialogs.push(properties)
          const filePaths = state.chosenFolder === null ? [] : [state.chosenFolder]
          return { canceled: filePaths.length === 0, filePaths }
        },
        async showMessageBox(_window: unknown, options: MessageBoxOptions) {
          messageBoxes.push(options)
          return { response: state.messageBoxAnswer, checkboxChecked: false }
        },
      },
    },
    app,
    windows,
    handlers,
    permissions,
    schemes,
    schemeHandlers,
    partitions,
    errorBoxes,
    messageBoxes,
    folderDialogs,
    exposed,
    opened,
    state,
  }
}

export type FakeElectron = ReturnType<typeof createFakeElectron>

let current = createFakeElectron()
/**
 * Creates a new fake Electron for a test. Modules that were loaded earlier also use the new fake.
 */
export const resetElectron = (): FakeElectron => (current = createFakeElectron())

const names = Object.keys(current.module) as (keyof FakeElectron['module'])[]
/**
 * Returns the replacement for the `electron` module. Each name refers to the current test's fake
 * Electron.
 */
export const electronModule = (): Record<string, unknown> =>
  Object.defineProperties(
    {},
    Object.fromEntries(
      names.map((name) => [name, { enumerable: true, get: () => current.module[name] }]),
    ),
  )
