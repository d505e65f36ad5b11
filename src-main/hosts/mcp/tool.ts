/**
 * Registers tools, validates tool input, runs one job at a time, and returns errors as tool
 * results.
 */
import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { KernelLadderError } from '../../domain/errors'
import type { Setup } from '../../adapters/machine/machine'
import type { Fence } from './fence'
import { answered, refused, type Answer } from './answers'

/** The context that every tool receives. */
export interface Workplace {
  setup: Setup
  fence: Fence
  /** Whether the user allowed GPU use. */
  allowRun: boolean
  /** Signal that aborts when the client disconnects. */
  gone: AbortSignal
}

export interface Call {
  signal: AbortSignal
  /** Reports progress to clients that requested progress reports. */
  progress(message: string): void
}

interface ToolFacts<Shape extends z.ZodRawShape> {
  title: string
  /**
   * The description begins with the tool's effect on the machine, because clients show the
   * description before a call.
   */
  description: string
  input: Shape
  /**
   * The tool's effect. `reads` changes nothing. `keeps` saves a session. `works` builds or runs
   * code and saves a session. Calls to `works` tools run one at a time.
   */
  effect: 'reads' | 'keeps' | 'works'
  answer: (input: z.output<z.ZodObject<Shape>>, call: Call) => Promise<Answer>
}

/** Maximum number of waiting calls. Calls beyond this limit are rejected. */
const mostWaiting = 32

/** Returns a function that runs jobs one at a time, in order. */
function turns() {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= mostWaiting)
      throw new KernelLadderError(
        'failed',
        `${mostWaiting} calls are waiting already.`,
        'Wait for their results, then call again.',
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
  // Calls that only read data are quick but also run one at a time. Otherwise, many calls could
  // open a thousand sessions simultaneously.
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
          // The tools send no data to other machines.
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
