import type { z } from 'zod'
import {
  calls,
  RunMessage,
  type CallInput,
  type CallName,
  type CallOutput,
  type Reply,
} from '../../src-main/contract'
import { ImportAnswer } from '../../src-main/contract/sessions'
import { CoreError, LineError } from './errors'
import type { Transport } from './transport'

export interface Subscriber {
  message(message: RunMessage): void
  reconnected(): void
  lost(): void
}

export interface Client {
  readonly kind: Transport['kind']
  call<N extends CallName>(name: N, input: CallInput<N>): Promise<CallOutput<N>>
  /** null if this UI cannot import a file: a report has no program behind it. */
  readonly importFile: ((file: File) => Promise<ImportAnswer>) | null
  /** Opens the system's folder dialog; null if there is none and the path must be typed. */
  readonly chooseFolder: (() => Promise<string | null>) | null
  subscribe(subscriber: Subscriber): () => void
}

/** Timeouts in milliseconds; `doctor.check` and `run.start` run tools before they answer. */
const limits: Partial<Record<CallName, number>> = {
  'doctor.check': 60_000,
  'run.start': 60_000,
  'run.cancel': 30_000,
  // Starts a browser to print a PDF.
  'report.make': 240_000,
  // nvcc takes seconds, or minutes on a busy machine.
  'drafts.build': 300_000,
  'drafts.counters': 300_000,
  'folders.build': 10 * 60_000,
  'folders.counters': 300_000,
  'watch.start': 60_000,
  'labs.build': 10 * 60_000,
  'labs.check': 60_000,
  // They connect over ssh.
  'machines.check': 60_000,
  'machines.look': 90_000,
  'machines.add': 150_000,
}
const defaultLimit = 15_000

const importLimit = 30 * 60_000

function withLimit<T>(name: string, limit: number, work: (signal: AbortSignal) => Promise<T>) {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new LineError('timeout', name))
      abort.abort()
    }, limit)
  })
  return Promise.race([work(abort.signal), timeout]).finally(() => clearTimeout(timer))
}

/** Calls of the contract over a transport, with a timeout per call, validated answers and typed errors. */
export function createClient(transport: Transport, timeLimits = limits): Client {
  const answer = <S extends z.ZodType>(
    name: string,
    reply: Reply<unknown>,
    shape: S,
  ): z.output<S> => {
    if (!reply.ok) throw new CoreError(reply.error)
    const parsed = shape.safeParse(reply.value)
    if (!parsed.success) throw new LineError('malformed', name, { cause: parsed.error })
    return parsed.data
  }
  const { importFile, chooseFolder } = transport
  return {
    kind: transport.kind,
    async call(name, input) {
      const reply = await withLimit(name, timeLimits[name] ?? defaultLimit, (signal) =>
        transport.call(name, input, signal),
      )
      return answer(name, reply, calls[name].output) as CallOutput<typeof name>
    },
    importFile: importFile
      ? async (file) => {
          const reply = await withLimit('import', importLimit, (signal) => importFile(file, signal))
          return answer('import', reply, ImportAnswer)
        }
      : null,
    // No timeout: the user takes as long as they like in the dialog.
    chooseFolder: chooseFolder ? () => chooseFolder() : null,
    subscribe: (subscriber) =>
      transport.subscribe({
        message(raw) {
          const parsed = RunMessage.safeParse(raw)
          // An unreadable message counts as a gap, so its contents are fetched again.
          if (parsed.success) subscriber.message(parsed.data)
          else subscriber.reconnected()
        },
        reconnected: subscriber.reconnected,
        lost: subscriber.lost,
      }),
  }
}
