/** Tests how the scripts find, install, and run programs. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { explainFailure, isInstalled } from '../../scripts/lib/install.mjs'
import { isSupportedNode, npmCommand } from '../../scripts/lib/project.mjs'
import { downloader, mayOpenWindow } from '../../scripts/lib/electron.mjs'
import { passesInterruptOn, runChild } from '../../scripts/lib/child.mjs'
import { withLock } from '../../scripts/lib/lock.mjs'
import { chromiumCandidates } from '../../scripts/lib/chromium.mjs'

describe('setup', () => {
  describe('installed dependencies', () => {
    let folder = ''
    const write = (path: string, packages: object) => {
      writeFileSync(join(folder, path), JSON.stringify({ packages }))
    }
    const wanted = {
      '': { name: 'root' },
      'node_modules/a': { version: '1.0.0' },
      'node_modules/elsewhere': { version: '1.0.0', optional: true },
    }

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-install-'))
      mkdirSync(join(folder, 'node_modules'))
      write('package-lock.json', wanted)
    })
    afterEach(() => {
      rmSync(folder, { recursive: true })
    })

    it('are missing before npm has finished', () => {
      expect(isInstalled(folder)).toBe(false)
      rmSync(join(folder, 'node_modules'), { recursive: true })
      expect(isInstalled(folder)).toBe(false)
    })

    it('are accepted if they were installed manually', () => {
      write('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0' } })
      expect(isInstalled(folder)).toBe(true)
      rmSync(join(folder, 'node_modules/.package-lock.json'))
      expect(isInstalled(folder)).toBe(true)
    })

    it('are stale if the lock file requires another version', () => {
      write('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0' } })
      expect(isInstalled(folder)).toBe(true)
      write('package-lock.json', { ...wanted, 'node_modules/a': { version: '1.0.1' } })
      expect(isInstalled(folder)).toBe(false)
    })

    it('are stale if a dependency is missing', () => {
      write('node_modules/.package-lock.json', {})
      expect(isInstalled(folder)).toBe(false)
    })

    it('get a clear error message if the installation fails', () => {
      expect(explainFailure('npm error code EAI_AGAIN\nnpm error request failed')).toMatch(
        /^npm cannot reach its registry, .*run this again\.\nnpm said:\nnpm error code EAI_AGAIN/,
      )
      expect(explainFailure('npm error code EUSAGE')).toMatch(/^The dependencies could not be/)
      expect(explainFailure('')).toBe('The dependencies could not be installed.')
    })
  })

  describe('programs', () => {
    it('reject a Node.js that is too old for a dependency', () => {
      const refused = ['v18.20.8', 'v20.18.3', 'v21.7.3', 'v22.11.0', 'v23.11.1']
      expect(refused.filter(isSupportedNode)).toEqual([])
      const accepted = ['v20.19.0', 'v20.20.2', 'v22.12.0', 'v24.0.0', 'v26.0.0']
      expect(accepted.filter(isSupportedNode)).toEqual(accepted)
    })

    it('call the npm that started them', () => {
      const env = { npm_execpath: '/x/npm-cli.js', npm_node_execpath: '/usr/bin/node' }
      expect(npmCommand(env)).toEqual({
        file: '/usr/bin/node',
        args: ['/x/npm-cli.js'],
        shell: false,
      })
      expect(npmCommand({ npm_execpath: '/x/pnpm.cjs' }).args).toEqual([])
    })

    it('have the same requirements in the lock file and the manifest', () => {
      const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
      const lock = JSON.parse(read('package-lock.json')).packages['']
      const manifest = JSON.parse(read('package.json'))
      for (const kind of ['dependencies', 'devDependencies', 'engines'])
        expect(lock[kind]).toEqual(manifest[kind])
      expect(read('package-lock.json')).not.toContain('"resolved"')
    })
  })
})

describe('Chromium', () => {
  describe('the search', () => {
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

    it('tries each name in all folders of PATH before the next name', () => {
      const chrome = program('first/google-chrome')
      const chromium = program('second/chromium')
      const other = program('third/chromium')
      const path = ['first', 'second', 'third'].map((name) => join(folder, name)).join(delimiter)
      expect(search({ PATH: path })).toEqual([chromium, other, chrome])
    })

    it('prefers the headless shell, because it opens pages in half the time', () => {
      const whole = program('first/chromium')
      const shell = program('second/chromium-headless-shell')
      const path = ['first', 'second'].map((name) => join(folder, name)).join(delimiter)
      expect(search({ PATH: path })).toEqual([shell, whole])
    })

    it('skips files that cannot be executed', () => {
      program('bin/chromium', 0o644)
      mkdirSync(join(folder, 'bin/chrome'))
      expect(search({ PATH: join(folder, 'bin') })).toEqual([])
    })

    it('prefers the path in an environment variable', () => {
      const named = program('mine/browser')
      const found = program('bin/chromium')
      expect(search({ CHROME_PATH: named, PATH: join(folder, 'bin') })).toEqual([named, found])
      expect(search({ CHROMIUM_PATH: named })).toEqual([named])
    })

    it('reports an environment variable with a wrong path', () => {
      expect(() => search({ CHROME_PATH: join(folder, 'nowhere') })).toThrow(
        /^CHROME_PATH is ".*nowhere", which is not an executable file\.$/,
      )
    })

    it("uses Playwright's own Chromium last, and only if it exists", () => {
      const own = program('cache/chrome')
      const found = program('bin/chrome')
      expect(search({ PATH: join(folder, 'bin') }, own)).toEqual([found, own])
      expect(search({}, join(folder, 'cache/absent'))).toEqual([])
    })

    it('checks the macOS Applications folders', () => {
      const own = program('Applications/Chromium.app/Contents/MacOS/Chromium')
      expect(search({ HOME: folder }, undefined, 'darwin')).toEqual([own])
    })

    it('checks the Windows program folders', () => {
      const own = program('Local/Google/Chrome/Application/chrome.exe')
      expect(search({ LOCALAPPDATA: join(folder, 'Local') }, undefined, 'win32')).toEqual([own])
    })
  })
})

describe('Electron', () => {
  const desktop = { platform: 'linux', env: { DISPLAY: ':0' }, uid: 1000, args: [] }
  type Here = Parameters<typeof mayOpenWindow>[0]

  it.each<[string, Partial<Here>]>([
    ['with X11', {}],
    ['with Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }],
    ['on a Mac, as anybody', { platform: 'darwin', env: {}, uid: 0 }],
    ['on Windows', { platform: 'win32', env: {}, uid: undefined }],
    ['with other arguments', { args: ['--portable'] }],
  ])('is downloaded %s', (_when, change) => {
    expect(mayOpenWindow({ ...desktop, ...change })).toBe(true)
  })

  it.each<[string, Partial<Here>]>([
    ['without a display', { env: {} }],
    ['with an empty display', { env: { DISPLAY: '' } }],
    ['as root', { uid: 0 }],
    ['for a port', { args: ['--port', '8123'] }],
    ['for a session', { platform: 'darwin', args: ['--session=x'] }],
  ])('is not downloaded %s, because no window opens', (_when, change) => {
    expect(mayOpenWindow({ ...desktop, ...change })).toBe(false)
  })

  describe('the download', () => {
    let folder = ''
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-download-'))
    })
    afterEach(() => {
      rmSync(folder, { recursive: true })
    })

    /** Downloads from a local server with the given response and timeouts. */
    async function download(
      answer: (response: ServerResponse) => void,
      options: Parameters<typeof downloader>[0] = {},
    ) {
      const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const lines: string[] = []
      const file = join(folder, 'cache/electron.zip')
      try {
        await downloader({ say: (line) => lines.push(line), ...options }).download(
          `http://127.0.0.1:${port}/electron.zip`,
          file,
        )
        return { lines, bytes: readFileSync(file).length }
      } finally {
        server.closeAllConnections()
        server.close()
      }
    }

    /** Returns a handler that sends parts of a response with a pause after each part. */
    const drip = (parts: number, pauseMs: number) => (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': parts * 1_000_000 })
      const send = (left: number): void => {
        if (left === 0) return void response.end()
        response.write(Buffer.alloc(1_000_000))
        setTimeout(send, pauseMs, left - 1)
      }
      send(parts)
    }

    it('continues as long as data arrives, and reports progress', async () => {
      const { lines, bytes } = await download(drip(30, 100), { silenceMs: 2000, sayEveryMs: 50 })
      expect(bytes).toBe(30_000_000)
      expect(lines.length).toBeGreaterThan(2)
      for (const line of lines) expect(line).toMatch(/^ {2}\d+ of 30 MB$/)
    })

    it('stops when no more data arrives', async () => {
      await expect(download(drip(8, 5000), { silenceMs: 300 })).rejects.toThrow(
        'nothing arrived for 0 s',
      )
    })

    it("fails with the server's response", async () => {
      await expect(download((response) => response.writeHead(404).end())).rejects.toThrow(
        'the server answered 404 Not Found',
      )
    })
  })
})

describe('processes', () => {
  const library = new URL('../../scripts/lib/child.mjs', import.meta.url).href

  describe('a child', () => {
    it('returns its exit code and output', async () => {
      const script = 'console.log("out"); console.error("err"); process.exit(3)'
      const ended = await runChild(process.execPath, ['-e', script], { output: 'kept' })
      expect(ended.code).toBe(3)
      expect(ended.output).toContain('out\n')
      expect(ended.output).toContain('err\n')
    })

    it('that is killed returns 128 plus the signal', async () => {
      const script = 'process.kill(process.pid, "SIGTERM")'
      const ended = await runChild(process.execPath, ['-e', script], { output: 'kept' })
      expect(ended).toMatchObject({ code: 143, signal: 'SIGTERM' })
    })

    it('that does not exist returns 127', async () => {
      expect((await runChild('kernel-ladder-no-such-program', [], { output: 'kept' })).code).toBe(
        127,
      )
    })

    it('that takes too long is killed', async () => {
      const options = { output: 'kept', timeoutMs: 300 } as const
      expect(
        (await runChild(process.execPath, ['-e', 'setInterval(() => 0, 1e6)'], options)).code,
      ).toBe(137)
    })

    it.each(['SIGINT', 'SIGTERM'] as const)(
      'receives %s once, and ends before its parent',
      async (signal) => {
        const inner = `let n = 0
      process.on('${signal}', () => { n++; setTimeout(() => { console.log('heard', n); process.exit(7) }, 400) })
      console.log('ready'); setInterval(() => 0, 1e6)`
        const outer = `const { runChild } = await import('${library}')
      process.exit((await runChild(process.execPath, ['-e', ${JSON.stringify(inner)}])).code)`
        const wrapper = spawn(process.execPath, ['--input-type=module', '-e', outer], {
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        let output = ''
        wrapper.stdout.setEncoding('utf8').on('data', (text: string) => {
          if (text.includes('ready')) {
            wrapper.kill(signal)
            setTimeout(() => wrapper.kill(signal), 100)
          }
          output += text
        })
        const code = await new Promise((done) => wrapper.once('close', done))
        expect(output).toBe('ready\nheard 1\n')
        expect(code).toBe(7)
      },
    )

    it('receives ^C from the terminal together with its parent', () => {
      expect(passesInterruptOn([{ isTTY: false }, {}])).toBe(true)
      expect(passesInterruptOn([{}, { isTTY: true }])).toBe(false)
    })
  })

  describe('a lock', () => {
    let folder = ''
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-lock-'))
    })
    afterEach(() => {
      rmSync(folder, { recursive: true })
    })

    it('is held by one process at a time', async () => {
      let inside = 0
      let most = 0
      const work = async () => {
        most = Math.max(most, ++inside)
        await new Promise((done) => setTimeout(done, 20))
        inside -= 1
      }
      await Promise.all([1, 2, 3].map(() => withLock('work', work, folder)))
      expect(most).toBe(1)
    })

    it('is released if the work fails', async () => {
      const failing = withLock('work', () => Promise.reject(new Error('no')), folder)
      await expect(failing).rejects.toThrow('no')
      expect(await withLock('work', () => Promise.resolve(1), folder)).toBe(1)
    })

    it('held by a process that has ended is taken over', async () => {
      mkdirSync(join(folder, 'work.lock'))
      writeFileSync(join(folder, 'work.lock/owner'), `4194999 ${hostname()}`)
      expect(await withLock('work', () => Promise.resolve(1), folder)).toBe(1)
    })
  })
})
