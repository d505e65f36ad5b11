import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallName, Core, RunMessage } from '../../src-main/contract/index'
import { missingError } from '../../src-main/domain/errors'

export const appInfo = {
  version: '0.1.0',
  host: 'web',
  defaultSession: 'recorded:h200-4096',
  hasGpu: false,
  hasCompiler: false,
  hasEditor: false,
} as const

export const logMessage = (seq: number, message = `line ${seq}`): RunMessage => ({
  runId: 'run-1',
  seq,
  event: { type: 'log', level: 'info', message },
})

export interface FakeCore extends Core {
  calls: { name: CallName; input: unknown }[]
  listeners: Set<(message: RunMessage) => void>
  emit(message: RunMessage): void
  /** Releases `sessions.list`, which simulates a slow call. */
  release(): void
  /** Paths that were passed to the import call. */
  imported: string[]
  closed: number
}

/**
 * Creates a core that answers `app.info`, fails in `doctor.check` with a typed error, and delays
 * `sessions.list`.
 */
export function createFakeCore(): FakeCore {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const core: FakeCore = {
    calls: [],
    listeners: new Set(),
    imported: [],
    closed: 0,
    release: () => release(),
    emit: (message) => core.listeners.forEach((listener) => listener(message)),
    call: async (name: CallName, input: unknown): Promise<never> => {
      core.calls.push({ name, input })
      if (name === 'doctor.check') throw missingError('There is no GPU.', 'Plug one in.')
      if (name === 'sessions.list') {
        await released
        return [] as never
      }
      return appInfo as never
    },
    subscribe: (listener) => {
      core.listeners.add(listener)
      return () => core.listeners.delete(listener)
    },
    importFile: async (path) => {
      core.imported.push(path)
      return { ref: 'imported-it' }
    },
    close: async () => {
      core.closed += 1
    },
  }
  return core
}

export const indexHtml = '<!doctype html><title>Kernel Ladder</title><div id="app"></div>'
export const script = `console.log(${JSON.stringify('ladder '.repeat(400))})\n`
export const secret = 'nobody may read this'

/**
 * Creates a built UI, a file outside its folder, and links to that file. No request may reach the
 * file outside the folder.
 */
export function createRendererDir(): { dir: string; remove(): void } {
  const base = mkdtempSync(join(tmpdir(), 'kl-host-'))
  const dir = join(base, 'renderer')
  mkdirSync(join(dir, 'assets'), { recursive: true })
  mkdirSync(join(base, 'renderer-other'))
  writeFileSync(join(base, 'secret.txt'), secret)
  writeFileSync(join(base, 'renderer-other', 'secret.txt'), secret)
  writeFileSync(join(dir, 'index.html'), indexHtml)
  writeFileSync(join(dir, 'assets', 'index-Ab3_x-9Z.js'), script)
  writeFileSync(join(dir, 'assets', 'index-Ab3_x-9Z.css'), 'body { margin: 0 }')
  writeFileSync(join(dir, 'assets', 'plain.js'), 'export {}')
  writeFileSync(join(dir, 'tool-12345678.js'), 'export {}')
  writeFileSync(join(dir, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(dir, 'font.woff2'), Buffer.alloc(5000, 7))
  writeFileSync(join(dir, 'strange.xyz'), 'bytes')
  writeFileSync(join(dir, '.env.txt'), secret)
  symlinkSync(join(base, 'secret.txt'), join(dir, 'link.txt'))
  symlinkSync(join(base, 'renderer-other'), join(dir, 'linked'))
  symlinkSync(join(dir, 'logo.svg'), join(dir, 'alias.svg'))
  return { dir, remove: () => rmSync(base, { recursive: true, force: true }) }
}
