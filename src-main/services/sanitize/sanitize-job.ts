/** Runs a compute-sanitizer job for the UI, which polls the job. */
import { Bench } from '../bench/bench'
import type { Setup } from '../../adapters/machine/machine'
import { toErrorShape } from '../../domain/errors'
import type { SanitizeReport } from '../../domain/session/sanitizer'
import { catalogFor } from '../folders/copies'
import { can, parseTarget } from '../../domain/targets/targets'
import { emulatedGpu } from '../run/emulated-gpu'
import { sanitizeEmulated } from './emulated-sanitize'
import { sanitize } from './sanitize'
import { toolboxOn } from '../bench/visible-gpu'
import type { SanitizeProgress, SanitizeRequest, SanitizeState } from '../../contract/sanitize'

export interface SanitizeOptions {
  onProgress: (progress: SanitizeProgress) => void
  signal: AbortSignal
  secondsARung?: number
  waitForGpu?: boolean
  /** GPU index from 0 among the visible GPUs. If absent, CUDA's first GPU is used. */
  gpu?: number
}

/** Runs compute-sanitizer with this machine's tools and the catalog on disk. */
export async function sanitizeLive(
  setup: Setup,
  request: SanitizeRequest,
  options: SanitizeOptions,
): Promise<SanitizeReport> {
  const { machine } = setup
  const { catalog, request: own } = await catalogFor(setup, request)
  const tools = { toolbox: toolboxOn(machine, null, options.gpu), cache: machine.cache }
  const bench = await Bench.open(tools, catalog, options.signal)
  const environment = { ...options, bench, catalog }
  const target = parseTarget(request.target ?? '')
  if (target === null || can(target).needsGpu) return sanitize(environment, own)
  return sanitizeEmulated(environment, own, emulatedGpu(target.name).gpu)
}

interface SanitizeJob {
  readonly active: boolean
  start(request: SanitizeRequest): void
  current(): SanitizeState
  cancel(): void
  /** Cancels the job and waits for the process tree to exit. */
  close(): Promise<void>
}

export function createSanitizeJob(setup: Setup): SanitizeJob {
  let state: SanitizeState = { state: 'idle' }
  let running: { abort: AbortController; finished: Promise<void> } | null = null
  return {
    get active() {
      return running !== null
    },
    start(request) {
      const abort = new AbortController()
      const onProgress = (progress: SanitizeProgress): void => {
        state = { state: 'running', request, progress }
      }
      onProgress({ stage: 'prepare', done: 0, total: 0, tool: null, rung: null })
      const finished = sanitizeLive(setup, request, { onProgress, signal: abort.signal }).then(
        (report) => {
          running = null
          state = { state: 'done', request, report }
        },
        (error: unknown) => {
          running = null
          state = { state: 'failed', request, error: toErrorShape(error) }
        },
      )
      running = { abort, finished }
    },
    current: () => state,
    cancel: () => running?.abort.abort(),
    async close() {
      running?.abort.abort()
      await running?.finished
    },
  }
}
