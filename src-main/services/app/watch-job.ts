/**
 * Watches a single ladder folder for the UI, which polls the state. Every save starts a normal run.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { readCatalog } from '../../adapters/catalog/catalog'
import type { Setup } from '../../adapters/machine/machine'
import type { CallInput, RunRequest } from '../../contract/index'
import type { WatchState } from '../../contract/folders'
import { inputError, toErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import { openTrustedLadder } from '../folders/open'
import { watchFolder } from '../run/watch'

interface WatchRuns {
  /** Whether another job is using the GPU. */
  isBusy: () => boolean
  /**
   * Waits until the run ends. The returned session is null if no rung finished. Rejects with the
   * run's error.
   */
  start: (request: RunRequest) => Promise<{ session: Session | null; ref: string | null }>
}

const busyPauseMs = 300

export function createWatchJob(setup: Setup, { isBusy, start }: WatchRuns) {
  let state: WatchState = { on: false }
  let abort: AbortController | null = null

  const stop = (): void => {
    abort?.abort()
    abort = null
    state = { on: false }
  }

  async function begin(request: RunRequest): Promise<void> {
    const { own } = await openTrustedLadder(setup, request.ladder)
    if (!own)
      throw inputError(
        message('folders.shipped', { ladder: request.ladder }),
        message('folders.watchFolder'),
      )
    const shipped = await readCatalog(setup.assets.kernelsDir)
    stop()
    abort = new AbortController()
    const { signal } = abort
    const path = own.folder
    let session: string | null = null
    state = { on: true, path, session, phase: 'waiting', error: null, rounds: 0, rungs: [] }
    const run = async (rungs: string[]): Promise<Session | null> => {
      while (isBusy() && !signal.aborted) await pause(busyPauseMs)
      if (signal.aborted) return null
      const ended = await start({ ...request, ladder: path, rungs })
      session = ended.ref ?? session
      return ended.session
    }
    void watchFolder({
      folder: path,
      shipped,
      rungs: request.rungs,
      run,
      signal,
      onNews: (news) => {
        // Ignore updates from a watch that was stopped.
        if (!signal.aborted) state = { on: true, path, session, ...news, rungs: [...news.rungs] }
      },
    }).catch((error: unknown) => {
      if (!signal.aborted && state.on)
        state = { ...state, phase: 'failed', error: toErrorShape(error) }
    })
  }

  return {
    stop,
    calls: {
      'watch.start': async (request: CallInput<'watch.start'>) => {
        await begin({ params: {}, profile: 'card', ...request })
        return {}
      },
      'watch.stop': () => {
        stop()
        return Promise.resolve({})
      },
      'watch.current': () => Promise.resolve(state),
    },
  }
}
