import type { z } from 'zod'
import {
  calls,
  RunMessage,
  type CallInput,
  type CallName,
  type CallOutput,
  type Reply,
} from '../../src-main/contract'
import { ImportAnswer } from '../../src-main/contract/session-management'
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
  /** Null where this UI cannot take a file: a report has no program behind it. */
  readonly importFile: ((file: File) => Promise<ImportAnswer>) | null
  /** The system's dialog; null where there is none, and a path has to be typed. */
  readonly chooseFolder: (() => Promise<string | null>) | null
  subscribe(subscriber: Subscriber): () => void
}

/** Milliseconds a call may take; `doctor.check` and `run.start` call tools before they answer. */
const limits: Partial<Record<CallName, number>> = {
  'doctor.check': 60_000,
  'run.start': 60_000,
  'run.cancel': 30_000,
  // A PDF is printed by a browser that is started for it.
  'report.make': 240_000,
  // nvcc takes seconds, and minutes where the machine is busy.
  'drafts.build': 300_000,
  'folders.build': 10 * 60_000,
  'watch.start': 60_000,
  'labs.build': 10 * 60_000,
  'labs.check': 60_000,
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

/** The contract over a transport: a limit for each call, every answer validated, errors typed. */
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
    // No time limit: the dialog is the reader's.
    chooseFolder: chooseFolder ? () => chooseFolder() : null,
    subscribe: (subscriber) =>
      transport.subscribe({
        message(raw) {
          const parsed = RunMessage.safeParse(raw)
          // A message that cannot be read is a gap: what it said is fetched again.
          if (parsed.success) subscriber.message(parsed.data)
          else subscriber.reconnected()
        },
        reconnected: subscriber.reconnected,
        lost: subscriber.lost,
      }),
  }
}
