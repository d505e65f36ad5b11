/**
 * Calls that every start makes, sent while libraries and screens are still on their way. Each answer is taken
 * once, by the call that would have asked for it; a later call asks again.
 */
export interface RawAnswer {
  status: number
  /** Parsed JSON; undefined if the response has none. */
  body: unknown
}

const answers = new Map<string, Promise<RawAnswer>>()
const keyOf = (name: string, input: unknown): string => `${name} ${JSON.stringify(input)}`

/** Rejects if the server cannot be reached. */
export async function send(
  address: string,
  type: string,
  content: string | File,
  signal?: AbortSignal,
): Promise<RawAnswer> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': type },
    credentials: 'same-origin',
    body: content,
    ...(signal ? { signal } : {}),
  })
  const body: unknown = await response.json().catch(() => undefined)
  return { status: response.status, body }
}

export const postCall = (name: string, input: unknown, signal?: AbortSignal): Promise<RawAnswer> =>
  send(`/rpc/${name}`, 'application/json', JSON.stringify(input), signal)

function ask(name: string, input: unknown): Promise<RawAnswer> {
  const answer = postCall(name, input)
  // Whoever takes it meets the failure; if nobody does, it does not matter.
  answer.catch(() => undefined)
  answers.set(keyOf(name, input), answer)
  return answer
}

const askSession = (ref: unknown): void => {
  if (typeof ref === 'string') void ask('sessions.get', { ref })
}

/** With the session that the address names, at once, or the one that the program opens with. */
export function askAhead(): void {
  void ask('sessions.list', {})
  const info = ask('app.info', {})
  const named = /^#\/session\/([^/?]+)/.exec(window.location.hash)?.[1]
  // No address or answer is bad enough to end a start: the screens say what is wrong.
  if (named === undefined)
    void info
      .then((answer) => {
        const body = answer.body as { value?: { defaultSession?: unknown } } | undefined
        askSession(body?.value?.defaultSession)
      })
      .catch(() => undefined)
  else
    try {
      askSession(decodeURIComponent(named))
    } catch {
      // It is no address of a session.
    }
}

/** The answer to a call if it was asked ahead; undefined if it was not, or has been taken. */
export function takeAhead(name: string, input: unknown): Promise<RawAnswer> | undefined {
  const key = keyOf(name, input)
  const answer = answers.get(key)
  answers.delete(key)
  return answer
}
