import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { RunMessage } from '../../../src-main/contract'
import type { KernelLadderBridge } from '../../../src-main/hosts/electron/preload'
import { appInfo, logMessage } from '../support'
import { type FakeFrame, FakeWebContents } from './fake-electron'
import { useDesktop } from './harness'
import {
  callChannel,
  eventChannel,
  folderChannel,
  importChannel,
} from '../../../src-main/hosts/electron/ipc'

vi.mock('electron', async () => (await import('./fake-electron')).electronModule())

const desktop = useDesktop()

const invoke = (event: unknown, message: unknown): unknown =>
  desktop.electron.handlers.get(callChannel)!(event, message)

const appInfoCall = { name: 'app.info', input: {} }

describe('a call over IPC', () => {
  it('from the app’s own page is answered by the core', async () => {
    const { webContents } = await desktop.open()
    const event = { sender: webContents, senderFrame: webContents.mainFrame }
    expect(await invoke(event, appInfoCall)).toEqual({ ok: true, value: appInfo })
  })

  const page: FakeFrame = {
    url: 'app://kernel-ladder/',
    origin: 'app://kernel-ladder',
    parent: null,
  }
  const goneFrame = Object.defineProperty({ ...page }, 'origin', {
    get: () => {
      throw new Error('Render frame was disposed before WebFrameMain could be accessed')
    },
  })
  it.each<[string, FakeFrame | null]>([
    ['a destroyed frame', null],
    ['a frame that is destroyed during the check', goneFrame],
    ['another site', { ...page, url: 'https://evil.example/', origin: 'https://evil.example' }],
    ['another host in our scheme', { ...page, origin: 'app://evil' }],
    [
      'a host that begins with our host name',
      { ...page, origin: 'app://kernel-ladder.evil.example' },
    ],
    ['a file', { ...page, url: 'file:///tmp/x.html', origin: 'file://' }],
    ['a page without an origin', { ...page, origin: 'null' }],
    ['a frame in our page', { ...page, parent: page }],
  ])('from %s is rejected and does not reach the core', async (_what, senderFrame) => {
    const { webContents } = await desktop.open()
    const reply = await invoke({ sender: webContents, senderFrame }, appInfoCall)
    expect(reply).toMatchObject({ ok: false, error: { kind: 'input' } })
    expect(desktop.core.calls).toEqual([])
  })

  it('from other web contents is rejected, even if they show our page', async () => {
    await desktop.open()
    const sender = new FakeWebContents()
    const reply = await invoke({ sender, senderFrame: sender.mainFrame }, appInfoCall)
    expect(reply).toMatchObject({ ok: false })
    expect(desktop.core.calls).toEqual([])
  })

  it.each([
    ['with an unknown name', { name: 'no.such.call', input: {} }],
    ['with a name from the prototype', { name: 'toString', input: {} }],
    ['with invalid input', { name: 'sessions.get', input: { ref: '../x' } }],
    ['whose name is not a string', { name: 7, input: {} }],
    ['without an input', { name: 'app.info' }],
    ['that is null', null],
    ['that is a string', 'app.info'],
    ['that is missing', undefined],
  ])('%s gets a typed error and does not reach the core', async (_what, message) => {
    const { webContents } = await desktop.open()
    const event = { sender: webContents, senderFrame: webContents.mainFrame }
    expect(await invoke(event, message)).toMatchObject({ ok: false, error: { kind: 'input' } })
    expect(desktop.core.calls).toEqual([])
  })

  it('uses one of three channels, which are removed when the window closes', async () => {
    const window = await desktop.open()
    expect([...desktop.electron.handlers.keys()]).toEqual([
      callChannel,
      importChannel,
      folderChannel,
    ])
    window.close()
    expect(desktop.electron.handlers.size).toBe(0)
  })
})

describe('core events', () => {
  it('reach only the app’s window', async () => {
    const window = await desktop.open()
    const other = new desktop.electron.module.BrowserWindow({})
    desktop.core.emit(logMessage(0))
    expect(window.webContents.sent).toEqual([{ channel: eventChannel, args: [logMessage(0)] }])
    expect(other.webContents.sent).toEqual([])
  })

  it('are not sent to a closed window', async () => {
    const window = await desktop.open()
    window.webContents.destroyed = true
    expect(() => desktop.core.emit(logMessage(0))).not.toThrow()
    window.close()
    expect(desktop.core.listeners.size).toBe(0)
  })
})

describe('a file over IPC', () => {
  const hand = (event: unknown, path: unknown): unknown =>
    desktop.electron.handlers.get(importChannel)!(event, path)

  it('from the app’s own page reaches the core', async () => {
    const { webContents } = await desktop.open()
    const event = { sender: webContents, senderFrame: webContents.mainFrame }
    expect(await hand(event, import.meta.filename)).toEqual({
      ok: true,
      value: { ref: 'imported-it' },
    })
    expect(desktop.core.imported).toEqual([import.meta.filename])
  })

  it.each([
    ['that does not exist', '/nowhere/run.ncu-rep'],
    ['that is a folder', import.meta.dirname],
    ['that is a device', '/dev/null'],
    ['with a relative path', 'package.json'],
    ['with .. in its path', `${import.meta.dirname}/../electron/ipc.test.ts`],
    ['with a null character', `${import.meta.filename}\0.ncu-rep`],
  ])('%s is rejected before the core sees it', async (_what, path) => {
    const { webContents } = await desktop.open()
    const event = { sender: webContents, senderFrame: webContents.mainFrame }
    expect(await hand(event, path)).toMatchObject({ ok: false, error: { kind: 'input' } })
    expect(desktop.core.imported).toEqual([])
  })

  it('from any other sender is rejected', async () => {
    const { webContents } = await desktop.open()
    const other = new FakeWebContents()
    for (const event of [
      { sender: other, senderFrame: other.mainFrame },
      { sender: webContents, senderFrame: null },
    ])
      expect(await hand(event, '/data/run.ncu-rep')).toMatchObject({ ok: false })
    expect(desktop.core.imported).toEqual([])
  })

  it.each([undefined, '', { path: '/x' }])(
    'that has no path on disk (%j) is rejected',
    async (path) => {
      const { webContents } = await desktop.open()
      const event = { sender: webContents, senderFrame: webContents.mainFrame }
      expect(await hand(event, path)).toMatchObject({ ok: false, error: { kind: 'input' } })
      expect(desktop.core.imported).toEqual([])
    },
  )
})

describe('choosing a folder', () => {
  const choose = (event: unknown): unknown => desktop.electron.handlers.get(folderChannel)!(event)

  it('opens a dialog only for the app’s own page', async () => {
    const { webContents } = await desktop.open()
    const ours = { sender: webContents, senderFrame: webContents.mainFrame }
    expect(await choose(ours)).toBeNull()
    desktop.electron.state.chosenFolder = '/home/me/softmax'
    expect(await choose(ours)).toBe('/home/me/softmax')
    expect(desktop.electron.folderDialogs).toEqual([['openDirectory'], ['openDirectory']])
    const other = new FakeWebContents()
    expect(await choose({ sender: other, senderFrame: other.mainFrame })).toBeNull()
    expect(await choose({ sender: webContents, senderFrame: null })).toBeNull()
    expect(desktop.electron.folderDialogs).toHaveLength(2)
  })
})

describe('the preload', () => {
  const load = async (): Promise<KernelLadderBridge> => {
    vi.resetModules()
    await import('../../../src-main/hosts/electron/preload')
    return desktop.electron.exposed.get('kernelLadder') as KernelLadderBridge
  }

  it('exposes four functions to the page and nothing else', async () => {
    const bridge = await load()
    expect([...desktop.electron.exposed.keys()]).toEqual(['kernelLadder'])
    expect(Object.keys(bridge).sort()).toEqual(['call', 'chooseFolder', 'importFile', 'subscribe'])
  })

  it('passes a call to the core and returns its Reply', async () => {
    await desktop.open()
    const bridge = await load()
    expect(await bridge.call('app.info', {})).toEqual({ ok: true, value: appInfo })
    expect(await bridge.call('doctor.check', {})).toEqual({
      ok: false,
      error: { kind: 'missing', message: 'There is no GPU.', remedy: 'Plug one in.' },
    })
  })

  it('converts the name of a call from the page to a string', async () => {
    await desktop.open()
    const bridge = await load()
    const name = { toString: () => 'app.info' } as unknown as string
    expect(await bridge.call(name, {})).toMatchObject({ ok: true })
  })

  it('passes a file by the path from the system, not by a path from the page', async () => {
    await desktop.open()
    const bridge = await load()
    const file = new File(['x'], '../../etc/passwd')
    expect(await bridge.importFile(file)).toMatchObject({ ok: true })
    expect(desktop.core.imported).toEqual([join(import.meta.dirname, 'fake-electron.ts')])
  })

  it('passes events from the core to each listener, without the event object, until the subscription ends', async () => {
    const window = await desktop.open()
    const bridge = await load()
    const received: unknown[][] = []
    const end = bridge.subscribe((...args: [RunMessage]) => received.push(args))
    const deliver = (message: RunMessage): void => {
      desktop.core.emit(message)
      const { channel, args } = window.webContents.sent.at(-1)!
      desktop.electron.module.ipcRenderer.emit(channel, { sender: {} }, ...args)
    }
    deliver(logMessage(0))
    expect(end()).toBeUndefined()
    deliver(logMessage(1))
    expect(received).toEqual([[logMessage(0)]])
    expect(desktop.electron.module.ipcRenderer.listenerCount(eventChannel)).toBe(0)
  })
})
