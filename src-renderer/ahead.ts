/**
 * While libraries and screens are still loading, sends the requests that every startup needs. The
 * first caller gets the prefetched response. Later callers send a new request.
 */
export interface RawAnswer {
  status: number
  /** The parsed JSON, or undefined if the response is not JSON. */
  body: unknown
}

const answers = new Map<string, Promise<RawAnswer>>()
const keyOf = (name: string, input: unknown): string => `${name} ${JSON.stringify(input)}`

/** Sends a POST request. Rejects if the server cannot be reached. */
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
  // The code that awaits the response handles its error. Ignore the error if nothing awaits the
  // response.
  answer.catch(() => undefined)
  answers.set(keyOf(name, input), answer)
  return answer
}

const askSession = (ref: unknown): void => {
  if (typeof ref === 'string') void ask('sessions.get', { ref })
}

/** Requests the session in the URL, or the default session if the URL names no session. */
export function askAhead(): void {
  void ask('sessions.list', {})
  const info = ask('app.info', {})
  const named = /^#\/session\/([^/?]+)/.exec(window.location.hash)?.[1]
  // Startup continues if the URL or a response is invalid. The screens report the error.
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
      // Ignore a malformed session name in the URL.
    }
}

/**
 * Returns the prefetched response to a call. Returns undefined if the call was not prefetched or
 * its response was already returned.
 */
export function takeAhead(name: string, input: unknown): Promise<RawAnswer> | undefined {
  const key = keyOf(name, input)
  const answer = answers.get(key)
  answers.delete(key)
  return answer
}
