/** Typed calls from the UI to the core, independent of the transport. */
import type { z } from 'zod'
import {
  type CallName,
  type Reply,
  calls,
  RunMessage,
  type CallInput,
  type CallOutput,
} from '../../src-main/contract/index'
import { inEnglish } from '../../src-main/domain/text/english'
import type { Statement } from '../../src-main/domain/messages/message'
import type { ErrorKind, ErrorShape } from '../../src-main/domain/errors'
import { ImportAnswer } from '../../src-main/contract/sessions'

/** Transfers calls and events. The client, not the transport, validates the data. */
export interface Transport {
  readonly kind: 'electron' | 'web' | 'static'
  call(name: CallName, input: unknown, signal: AbortSignal): Promise<Reply<unknown>>
  /** Uploads a file that the user chose. The method is absent if this UI cannot import files. */
  importFile?(file: File, signal: AbortSignal): Promise<Reply<unknown>>
  /**
   * Opens a folder dialog. The result is null if the user cancels. The method is absent if there is
   * no folder dialog.
   */
  chooseFolder?(): Promise<string | null>
  subscribe(listener: Listener): () => void
}

export interface Listener {
  message(message: unknown): void
  /**
   * Called after a lost connection is restored. The listener may have missed messages in the
   * meantime.
   */
  reconnected(): void
  /** Called when the connection is lost. The transport reconnects automatically. */
  lost(): void
}

type LineFault = 'timeout' | 'unreachable' | 'unauthorized' | 'malformed'

/** An error reported by the core, whose message is shown unchanged. */
export class CoreError extends Error {
  override readonly name = 'CoreError'
  readonly kind: ErrorKind
  readonly statement: Statement
  readonly remedy: Statement | undefined

  constructor(shape: ErrorShape) {
    super(inEnglish(shape.message))
    this.statement = shape.message
    this.kind = shape.kind
    this.remedy = shape.remedy
  }
}

/**
 * An error for a missing or unusable response. The screen describes the error in the user's
 * language.
 */
export class LineError extends Error {
  override readonly name = 'LineError'
  readonly fault: LineFault
  readonly call: string

  constructor(fault: LineFault, call: string, options?: ErrorOptions) {
    super(`${fault}: ${call}`, options)
    this.fault = fault
    this.call = call
  }
}

interface Subscriber {
  message(message: RunMessage): void
  reconnected(): void
  lost(): void
}

interface Client {
  readonly kind: Transport['kind']
  call<N extends CallName>(name: N, input: CallInput<N>): Promise<CallOutput<N>>
  /** Imports a file. The function is null if this UI cannot import files, as in a report. */
  readonly importFile: ((file: File) => Promise<ImportAnswer>) | null
  /**
   * Opens the system's folder dialog. The function is null if there is no dialog and the user must
   * type the path.
   */
  readonly chooseFolder: (() => Promise<string | null>) | null
  subscribe(subscriber: Subscriber): () => void
}

/** Timeouts in milliseconds. `doctor.check` and `run.start` run tools before they respond. */
const limits: Partial<Record<CallName, number>> = {
  'doctor.check': 60_000,
  'run.start': 60_000,
  'run.cancel': 30_000,
  // `report.make` starts a browser to print a PDF.
  'report.make': 240_000,
  // nvcc takes seconds, or minutes on a busy machine.
  'drafts.build': 300_000,
  'drafts.counters': 300_000,
  'folders.build': 10 * 60_000,
  'folders.counters': 300_000,
  'watch.start': 60_000,
  'labs.build': 10 * 60_000,
  'labs.check': 60_000,
  // The calls to other machines connect over SSH.
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

/**
 * Returns a client that calls the core over a transport. Each call has a timeout, a validated
 * response, and typed errors.
 */
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
    // Set no timeout, because the user can keep the dialog open indefinitely.
    chooseFolder: chooseFolder ? () => chooseFolder() : null,
    subscribe: (subscriber) =>
      transport.subscribe({
        message(raw) {
          const parsed = RunMessage.safeParse(raw)
          // Treat an unreadable message as a gap, so that the subscriber fetches the whole state
          // again.
          if (parsed.success) subscriber.message(parsed.data)
          else subscriber.reconnected()
        },
        reconnected: subscriber.reconnected,
        lost: subscriber.lost,
      }),
  }
}

let current: Client | undefined

/**
 * Sets the client that all stores use. Call this function once at startup, before any store is
 * used.
 */
export function provideClient(client: Client): void {
  current = client
}

export function useClient(): Client {
  if (!current) throw new Error('The client is used before it is provided.')
  return current
}
