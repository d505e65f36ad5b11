/** Registers tools: what each is told of, one turn at a time for work, errors as answers. */
import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { inputError, toErrorShape, KernelLadderError } from '../../domain/errors'
import { inEnglish } from '../../domain/text/text'
import type { Setup } from '../../adapters/machine/machine'

// What an agent may reach: the folders that its user named, and this program's own sessions and recordings.

export interface Fence {
  /** Without links. */
  readonly folders: readonly string[]
  /** The path without links; throws a sentence for one that is outside of every folder, or does not exist. */
  within(path: string): Promise<string>
}

const contains = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

const named = (folders: readonly string[]): string =>
  folders.length === 0
    ? 'No folder was named when the server was started.'
    : `The folders are: ${folders.join(', ')}.`

export async function fenceOf(given: readonly string[]): Promise<Fence> {
  const folders = await Promise.all(
    given.map((folder) =>
      realpath(folder).catch(() => {
        throw inputError(
          `There is no folder ${folder}.`,
          'Name folders that exist: kernel-ladder mcp FOLDER.',
        )
      }),
    ),
  )
  const outside = (path: string): Error =>
    inputError(
      `${path} is outside of the folders that this server may use.`,
      `${named(folders)} Its user can start it with more: kernel-ladder mcp FOLDER.`,
    )
  return {
    folders,
    async within(path) {
      // Relative to the one folder, if there is one: an agent does not know where the server was started.
      const asked = resolve(folders[0] ?? process.cwd(), path)
      // Judged before it is looked for, so that nobody learns what exists elsewhere.
      if (!folders.some((folder) => contains(folder, asked))) throw outside(path)
      const real = await realpath(asked).catch(() => null)
      if (real === null) throw inputError(`${path} cannot be opened.`, named(folders))
      // A link may lead out.
      if (!folders.some((folder) => contains(folder, real))) throw outside(path)
      return real
    },
  }
}

// Answers of tools: one JSON object, the summary first, lists in pages, errors with a remedy.

export type Answer = Record<string, unknown> & { summary: string }

export const answered = (answer: Answer): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(answer) }],
  structuredContent: answer,
})

export function refused(error: unknown): CallToolResult {
  const { kind, message, remedy } = toErrorShape(error)
  const shape = {
    kind,
    message: inEnglish(message),
    ...(remedy === undefined ? {} : { remedy: inEnglish(remedy) }),
  }
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify({ error: shape }) }],
    structuredContent: { error: shape },
  }
}

/** The input of a tool that lists. */
export const pageInput = {
  from: z.number().int().min(0).default(0).describe('index of the first entry'),
  limit: z.number().int().min(1).max(200).default(20).describe('most entries to return'),
}

export interface PageRequest {
  from: number
  limit: number
}

/** `next` is what to ask for as `from`; null at the end. */
export function page<T>(
  all: readonly T[],
  { from, limit }: PageRequest,
): { total: number; next: number | null; entries: T[] } {
  const entries = all.slice(from, from + limit)
  const end = from + entries.length
  return { total: all.length, next: end < all.length ? end : null, entries }
}

/** `1 rung`, `2 rungs` */
export const counted = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`

/** Six digits are more than any counter needs; absent stays absent. */
export const rounded = (value: number | null | undefined): number | null =>
  value == null ? null : Number(value.toPrecision(6))

/** What every tool works with. */
export interface Workplace {
  setup: Setup
  fence: Fence
  /** Whether the user allowed the GPU. */
  allowRun: boolean
  /** Ended when the client is gone. */
  gone: AbortSignal
}

export interface Call {
  signal: AbortSignal
  /** Shown to the user by clients that ask for it. */
  progress(message: string): void
}

interface ToolFacts<Shape extends z.ZodRawShape> {
  title: string
  /** Begins with what a call does to the machine, since a client shows it before it calls. */
  description: string
  input: Shape
  /** `reads`: changes nothing. `keeps`: saves a session. `works`: builds or runs, one at a time, and saves a session. */
  effect: 'reads' | 'keeps' | 'works'
  answer: (input: z.output<z.ZodObject<Shape>>, call: Call) => Promise<Answer>
}

/** Calls that wait; a client that asks for more is told to wait itself. */
const mostWaiting = 32

/** One after another, in order. */
export function turns() {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= mostWaiting)
      throw new KernelLadderError(
        'failed',
        `${mostWaiting} calls are waiting already.`,
        'Wait for their answers, and call again.',
      )
    waiting += 1
    const mine = last.then(work, work).finally(() => (waiting -= 1))
    last = mine
    return mine
  }
}

function progressOf({ mcpReq }: ServerContext): (message: string) => void {
  const progressToken = mcpReq._meta?.progressToken
  let progress = 0
  if (progressToken === undefined) return () => undefined
  return (message) => {
    progress += 1
    const params = { progressToken, progress, message }
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

export function addTools(server: McpServer, { gone }: Workplace) {
  // What only reads is quick, and still one at a time: a flood of calls must not open a thousand sessions at once.
  const reading = turns()
  const working = turns()
  return <Shape extends z.ZodRawShape>(name: string, tool: ToolFacts<Shape>): void => {
    const { title, description, input, effect, answer } = tool
    const inTurn = effect === 'works' ? working : reading
    const inputSchema = z.strictObject(input)
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema,
        annotations: {
          title,
          readOnlyHint: effect === 'reads',
          destructiveHint: false,
          idempotentHint: effect === 'reads',
          // Nothing leaves this machine.
          openWorldHint: false,
        },
      },
      async (given, context) => {
        const signal = AbortSignal.any([context.mcpReq.signal, gone])
        try {
          const checked = given as z.output<z.ZodObject<Shape>>
          return answered(
            await inTurn(() => {
              signal.throwIfAborted()
              return answer(checked, { signal, progress: progressOf(context) })
            }),
          )
        } catch (error) {
          return refused(
            signal.aborted ? new KernelLadderError('cancelled', 'The call was cancelled.') : error,
          )
        }
      },
    )
  }
}

export type AddTool = ReturnType<typeof addTools>
