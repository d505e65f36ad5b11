/**
 * Transport for static report pages. The transport responds from the embedded sessions and cannot
 * run anything.
 */
import type { CallInput, CallName, CallOutput, Reply } from '../../src-main/contract'
import { KernelLadderError, toErrorShape } from '../../src-main/domain/errors'
import { message } from '../../src-main/domain/messages/message'
import type {
  FrozenDeep,
  FrozenReport,
  FrozenSession,
} from '../../src-main/domain/report/frozen-report'
import { firstStep } from '../../src-main/domain/next/first-step'
import type { Next } from '../../src-main/domain/next/next'
import { rungOf } from '../../src-main/domain/session/session'
import type { Transport } from './client'
import { listedKind, summaryOf } from '../../src-main/domain/session/session-summary'

/** Returns the session refs that the report's URLs use. */
export const frozenRefs = ({ sessions }: FrozenReport): string[] =>
  sessions.length === 1
    ? ['report']
    : sessions.map((_session, index) => ['first', 'second'][index] ?? `session-${index + 1}`)

type Answers = {
  [N in CallName]?: (input: CallInput<N>) => CallOutput<N> | Promise<CallOutput<N>>
}

/**
 * Returns a report's transport. `readDeep` reads a session's deep profiles when a screen first
 * needs them.
 */
export function staticTransport(
  frozen: FrozenReport,
  readDeep: (session: number) => Promise<FrozenDeep>,
): Transport {
  const refs = frozenRefs(frozen)
  const sessions = new Map(frozen.sessions.map((one, index) => [refs[index]!, one]))
  const at = (ref: string): FrozenSession => {
    const found = sessions.get(ref)
    if (!found) throw new KernelLadderError('input', message('pages.noSession', { session: ref }))
    return found
  }
  const deep = new Map<string, Promise<FrozenDeep>>()
  const deepOf = (ref: string): Promise<FrozenDeep> => {
    at(ref)
    const reading = deep.get(ref) ?? readDeep(refs.indexOf(ref))
    deep.set(ref, reading)
    return reading
  }
  /**
   * Returns a rung's advice. Throws a `missing` error if the report is from an older version
   * without advice.
   */
  const adviceOf = (ref: string, rung: string): Next => {
    const found = at(ref).next?.[rung]
    if (!found) throw new KernelLadderError('missing', message('pages.noProgram'))
    return found
  }
  const answers: Answers = {
    'app.info': () => ({
      version: frozen.sessions[0]!.session.appVersion,
      host: 'report',
      defaultSession: refs[0]!,
      hasGpu: false,
      hasCompiler: false,
      hasEditor: false,
    }),
    'sessions.list': () =>
      [...sessions].map(([ref, { session }]) =>
        summaryOf(ref, listedKind(session), session.ladder.title, session),
      ),
    'sessions.get': ({ ref }) => at(ref).session,
    'sessions.sources': ({ ref }) => at(ref).sources,
    'sessions.deep': async ({ ref, rung }) => (await deepOf(ref))[rung] ?? null,
    'sessions.next': ({ ref, rung }) => adviceOf(ref, rung),
    'sessions.firstSteps': ({ ref, rungs }) =>
      Object.fromEntries(
        rungs.map((id) => {
          const { session } = at(ref)
          return [id, firstStep(session, rungOf(session, id)!, adviceOf(ref, id))]
        }),
      ),
    'run.current': () => ({ messages: [], active: false }),
  }
  const answer = (name: CallName, input: unknown): unknown => {
    const found = answers[name] as ((input: unknown) => unknown) | undefined
    if (!found)
      throw new KernelLadderError('missing', message('pages.noProgram'), message('pages.import'))
    return found(input)
  }
  return {
    kind: 'static',
    async call(name, input): Promise<Reply<unknown>> {
      try {
        return { ok: true, value: await answer(name, input) }
      } catch (error) {
        return { ok: false, error: toErrorShape(error) }
      }
    },
    subscribe: () => () => undefined,
  }
}
