import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chromiumCandidates } from '../../scripts/lib/chromium.mjs'

describe('the search for a Chromium', () => {
  let folder = ''
  const program = (path: string, mode = 0o755): string => {
    const file = join(folder, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, '#!/bin/sh\n')
    chmodSync(file, mode)
    return file
  }
  const search = (env: NodeJS.ProcessEnv, playwright?: string, platform = 'linux') =>
    [...chromiumCandidates(env, platform, () => playwright)].filter((path) =>
      path.startsWith(folder),
    )

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-chromium-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  it('goes by name first, then by the order of PATH', () => {
    const chrome = program('first/google-chrome')
    const chromium = program('second/chromium')
    const other = program('third/chromium')
    const path = ['first', 'second', 'third'].map((name) => join(folder, name)).join(delimiter)
    expect(search({ PATH: path })).toEqual([chromium, other, chrome])
  })

  it('prefers the headless shell, whose pages open in half the time', () => {
    const whole = program('first/chromium')
    const shell = program('second/chromium-headless-shell')
    const path = ['first', 'second'].map((name) => join(folder, name)).join(delimiter)
    expect(search({ PATH: path })).toEqual([shell, whole])
  })

  it('passes over what cannot be executed', () => {
    program('bin/chromium', 0o644)
    mkdirSync(join(folder, 'bin/chrome'))
    expect(search({ PATH: join(folder, 'bin') })).toEqual([])
  })

  it('prefers what a variable names', () => {
    const named = program('mine/browser')
    const found = program('bin/chromium')
    expect(search({ CHROME_PATH: named, PATH: join(folder, 'bin') })).toEqual([named, found])
    expect(search({ CHROMIUM_PATH: named })).toEqual([named])
  })

  it('says when a variable names nothing', () => {
    expect(() => search({ CHROME_PATH: join(folder, 'nowhere') })).toThrow(
      /^CHROME_PATH is ".*nowhere", which is not an executable file\.$/,
    )
  })

  it("takes Playwright's own last, and only when it is there", () => {
    const own = program('cache/chrome')
    const found = program('bin/chrome')
    expect(search({ PATH: join(folder, 'bin') }, own)).toEqual([found, own])
    expect(search({}, join(folder, 'cache/absent'))).toEqual([])
  })

  it('knows where a Mac keeps programs', () => {
    const own = program('Applications/Chromium.app/Contents/MacOS/Chromium')
    expect(search({ HOME: folder }, undefined, 'darwin')).toEqual([own])
  })

  it('knows where Windows keeps programs', () => {
    const own = program('Local/Google/Chrome/Application/chrome.exe')
    expect(search({ LOCALAPPDATA: join(folder, 'Local') }, undefined, 'win32')).toEqual([own])
  })
})
