/**
 * A fake Electron with exactly the members that Electron declares. Reading, calling or setting any
 * other member throws an error. The fake Electron from the host tests implements the behavior.
 */
import { type FakeElectron } from '../hosts/electron/fake-electron'
import { membersOf } from './electron-members'

/** The Electron class of each property that refers to another Electron object. */
const kinds: Readonly<Record<string, string>> = {
  webContents: 'WebContents',
  defaultSession: 'Session',
  mainFrame: 'WebFrameMain',
  senderFrame: 'WebFrameMain',
  sender: 'WebContents',
  protocol: 'Protocol',
}

const proxies = new WeakMap<object, object>()
const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/**
 * Returns a proxy that allows only the members of the Electron class. The same value always has the
 * same proxy.
 */
export function strict<T extends object>(value: T, kind: string): T {
  const known = proxies.get(value)
  if (known) return known as T
  const members = membersOf(kind)
  const check = (name: string | symbol): void => {
    if (typeof name === 'string' && !members.has(name) && name !== 'then' && name !== 'constructor')
      throw new TypeError(`Electron's ${kind} has no member "${name}"`)
  }
  const proxy = new Proxy(value, {
    get(target, name) {
      check(name)
      const found: unknown = Reflect.get(target, name, target)
      if (typeof name === 'string' && found === undefined && !Reflect.has(target, name))
        if (name !== 'then') throw new TypeError(`The stand-in lacks ${kind}.${name}`)
      if (typeof found === 'function' && !/^class /.test(String(found)))
        return (...args: unknown[]) =>
          result(name, Reflect.apply(found, target, args.map(listening)))
      return isObject(found) && kinds[String(name)] ? strict(found, kinds[String(name)]!) : found
    },
    set(target, name, next) {
      check(name)
      return Reflect.set(target, name, next, target)
    },
    // The constructor accepts only window options that Electron declares.
    construct(target, [options]: [Record<string, unknown>]) {
      const { webPreferences = {} } = options
      for (const name of Object.keys(options))
        if (!membersOf('BrowserWindowConstructorOptions').has(name))
          throw new TypeError(`Electron's BrowserWindow has no option "${name}"`)
      for (const name of Object.keys(webPreferences as object))
        if (!membersOf('WebPreferences').has(name))
          throw new TypeError(`Electron's webPreferences have no "${name}"`)
      return strict(Reflect.construct(target as never, [options]) as object, kind)
    },
  })
  proxies.set(value, proxy)
  return proxy
}

const result = (name: string | symbol, value: unknown): unknown =>
  name === 'fromPartition' && isObject(value) ? strict(value, 'Session') : value

/** Wraps a callback so that the Electron objects that it receives are also strict. */
function listening(argument: unknown): unknown {
  if (typeof argument !== 'function') return argument
  return (...given: unknown[]): unknown =>
    Reflect.apply(argument, undefined, given.map(strictArgument))
}

function strictArgument(value: unknown): unknown {
  if (!isObject(value)) return value
  if (value.constructor.name === 'FakeWebContents') return strict(value, 'WebContents')
  if ('sender' in value && 'senderFrame' in value)
    return {
      sender: strict(value.sender as object, 'WebContents'),
      senderFrame: strict(value.senderFrame as object, 'WebFrameMain'),
    }
  return value
}

/** The Electron class of each name that the `electron` module exports. */
const exported: Readonly<Record<string, string>> = {
  app: 'App',
  BrowserWindow: 'BrowserWindow',
  contextBridge: 'ContextBridge',
  dialog: 'Dialog',
  ipcMain: 'IpcMain',
  ipcRenderer: 'IpcRenderer',
  Menu: 'Menu',
  nativeTheme: 'NativeTheme',
  protocol: 'Protocol',
  session: 'Session',
  shell: 'Shell',
  webUtils: 'WebUtils',
}

export const strictModule = ({ module }: FakeElectron): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(module).map(([name, value]) => [name, strict(value as object, exported[name]!)]),
  )
