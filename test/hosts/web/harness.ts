import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { startWebHost, type WebHost, type WebHostLimits } from '../../../src-main/hosts/web/server'
import { createFakeCore, type FakeCore, createRendererDir } from '../support'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  bytes: Buffer
}

type Headers = Record<string, string | string[] | undefined>

export interface Ask {
  method?: string
  headers?: Headers
  body?: string | Buffer
}

export interface Harness {
  host: WebHost
  core: FakeCore
  rendererDir: string
  logged: string[]
  /** Sends the request unchanged, except for an added Host header. */
  ask(path: string, ask?: Ask): Promise<Answer>
  /** Exchanges the link for a cookie and returns a browser's Cookie header. */
  signIn(): Promise<string>
  /**
   * Makes a call in the same way as the app's own page. Entries in `headers` override the page's
   * headers, and undefined removes a header.
   */
  call(name: string, body?: string | Buffer, headers?: Headers): Promise<Answer>
  /**
   * Sends bytes on a bare socket. Returns everything received until the server closes the socket.
   */
  raw(text: string): Promise<string>
  /**
   * Opens an event stream. The result has the text received so far and a promise for the end of the
   * stream.
   */
  stream(cookie: string): Promise<EventStream>
  stop(): Promise<void>
}

export interface EventStream {
  response: IncomingMessage
  request: ClientRequest
  text(): string
  until(part: string): Promise<void>
  ended: Promise<void>
}

export const json = (answer: Answer): unknown => JSON.parse(answer.body)

export async function startHarness(limits: Partial<WebHostLimits> = {}): Promise<Harness> {
  const core = createFakeCore()
  const renderer = createRendererDir()
  const logged: string[] = []
  const host = await startWebHost({
    core,
    rendererDir: renderer.dir,
    log: (line) => logged.push(line),
    limits,
  })
  const { port } = host

  const ask = (path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).filter(
        ([, value]) => value !== undefined,
      )
      const request = httpRequest(
        // Use a new socket, because a response may affect the next request on its connection.
        { host: '127.0.0.1', port, path, method, headers: Object.fromEntries(sent), agent: false },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const bytes = Buffer.concat(chunks)
            const { statusCode = 0 } = response
            resolve({ status: statusCode, headers: response.headers, body: String(bytes), bytes })
          })
        },
      )
      request.on('error', reject)
      request.end(body)
    })

  const signIn = async (): Promise<string> => {
    const { pathname, search } = new URL(host.newUrl())
    const answer = await ask(pathname + search)
    return answer.headers['set-cookie']![0]!.split(';')[0]!
  }

  let cookie: string | undefined
  const call: Harness['call'] = async (name, body = '{}', headers = {}) => {
    cookie ??= await signIn()
    const own = { cookie, origin: host.origin, 'content-type': 'application/json' }
    return ask(`/rpc/${name}`, { method: 'POST', headers: { ...own, ...headers }, body })
  }

  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'))
      let received = ''
      socket.on('data', (chunk) => (received += chunk.toString('latin1')))
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })

  const stream = (cookie: string): Promise<EventStream> =>
    new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path: '/events', headers: { cookie } })
      request.on('error', reject)
      request.on('response', (response) => {
        let text = ''
        // Search only the end of the text, so that the search is fast for large streams.
        let tail = ''
        const waiting = new Set<() => void>()
        response.on('data', (chunk: Buffer) => {
          text += String(chunk)
          tail = (tail + String(chunk)).slice(-1000)
          waiting.forEach((check) => check())
        })
        const until = (part: string): Promise<void> =>
          new Promise((found) => {
            const check = (): void => {
              if (tail.includes(part)) found()
            }
            waiting.add(check)
            if (text.includes(part)) found()
          })
        const ended = new Promise<void>((done) => response.on('close', done))
        response.on('error', () => {})
        resolve({ response, request, text: () => text, until, ended })
      })
      request.end()
    })

  const stop = async (): Promise<void> => {
    await host.close()
    renderer.remove()
  }
  return { host, core, rendererDir: renderer.dir, logged, ask, signIn, call, raw, stream, stop }
}
