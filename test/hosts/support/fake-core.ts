import type { CallName, Core, RunMessage } from '../../../src-main/contract'
import { missingError } from '../../../src-main/domain/errors'

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
  /** `sessions.list` waits for this, to stand for a slow call. */
  release(): void
  /** Paths that were handed over. */
  imported: string[]
  closed: number
}

/** Answers `app.info`, fails `doctor.check` with a typed error, holds `sessions.list` back. */
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
