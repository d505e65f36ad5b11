import { describe, expect, it } from 'vitest'
import { neverStarted, whyServe, type Circumstances } from '../../scripts/lib/electron.mjs'

const desktop: Circumstances = {
  platform: 'linux',
  env: { DISPLAY: ':0' },
  uid: 1000,
  args: [],
  electron: 'ready',
}

describe('a window or a served UI', () => {
  it.each<[string, Partial<Circumstances>]>([
    ['with X11', {}],
    ['with Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }],
    ['before Electron has been looked for', { electron: 'unknown' }],
    ['on a Mac, as anybody', { platform: 'darwin', env: {}, uid: 0 }],
    ['on Windows', { platform: 'win32', env: {}, uid: undefined }],
    ['with other arguments', { args: ['--session', '--portable'] }],
  ])('opens a window %s', (_when, change) => {
    expect(whyServe({ ...desktop, ...change })).toBeUndefined()
  })

  it.each<[string, Partial<Circumstances>, string]>([
    ['without a display', { env: {} }, 'No display was found, so'],
    ['with an empty display', { env: { DISPLAY: '' } }, 'No display was found, so'],
    ['as root', { uid: 0 }, 'does not run as root with its sandbox on, so'],
    ['without Electron', { electron: 'missing' }, 'Electron could not be downloaded, so'],
    ['where it does not start', { electron: 'broken' }, 'Electron could not start'],
    ['for a port', { args: ['--port', '8123'] }, 'A port was given, so'],
    ['for a port in one word', { platform: 'darwin', args: ['--port=0'] }, 'A port was given'],
  ])('serves %s, and says why', (_when, change, why) => {
    const line = whyServe({ ...desktop, ...change })
    expect(line).toContain(why)
    expect(line).toMatch(/the UI is served here instead of in a window\.$/)
  })

  it('tells a window that never came from one that ended badly', () => {
    expect(neverStarted({ code: 127, seconds: 0.1 })).toBe(true)
    expect(neverStarted({ code: 133, seconds: 1 })).toBe(true)
    expect(neverStarted({ code: 133, seconds: 60 })).toBe(false)
    expect(neverStarted({ code: 1, seconds: 1 })).toBe(false)
    expect(neverStarted({ code: 0, seconds: 1 })).toBe(false)
    expect(neverStarted({ code: 130, seconds: 1 })).toBe(false)
  })
})
