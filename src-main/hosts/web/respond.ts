/** Sends the web host's complete responses, including the common headers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from '../../contract/index'
import { HttpFault } from './request-guard'
import { cacheNever } from '../shared/response-headers'

export function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  response.writeHead(status, {
    'Cache-Control': cacheNever,
    ...headers,
    'Content-Length': bytes.length,
  })
  // For a HEAD request, Node omits the body.
  response.end(bytes)
}

export function sendReply(
  response: ServerResponse,
  status: number,
  reply: Reply<unknown>,
  headers: Record<string, string> = {},
): void {
  send(response, status, JSON.stringify(reply), {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
  })
}

/**
 * Sends a page. The text is constant and contains nothing from the request, so it needs no
 * escaping.
 */
function sendPage(
  response: ServerResponse,
  status: number,
  { title, body, head = '' }: { title: string; body: string; head?: string },
  headers: Record<string, string> = {},
): void {
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${head}<title>${title}</title>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`
  send(response, status, page, { ...headers, 'Content-Type': 'text/html; charset=utf-8' })
}

/** Rejects a request. The response is a Reply for programs and a page for browsers. */
export function sendFault(
  request: IncomingMessage,
  response: ServerResponse,
  fault: HttpFault,
): void {
  // Close the connection, because the rest of a rejected message must not be parsed as the next
  // request.
  const headers = request.complete ? fault.headers : { ...fault.headers, Connection: 'close' }
  if (/^\/(rpc|events|import)\b/.test(request.url ?? '')) {
    const { message, remedy } = fault
    const error = { kind: 'input' as const, message, ...(remedy === undefined ? {} : { remedy }) }
    sendReply(response, fault.status, { ok: false, error }, headers)
    return
  }
  const body = [fault.message, fault.remedy]
    .filter((sentence) => sentence !== undefined)
    .map((sentence) => `<p>${sentence}</p>`)
    .join('\n')
  sendPage(response, fault.status, { title: 'Kernel Ladder', body }, headers)
}

export function sendEntryRefused(response: ServerResponse, reason: string): void {
  sendPage(response, 403, {
    title: 'This page is locked',
    body: `<p>${reason}</p>
<p>To get a new link, stop the server, start it again with the same command and open the address that it prints. Each link works once.</p>
<p>If Kernel Ladder is already open in this browser, <a href="/">continue there</a>.</p>`,
  })
}

export function sendEntry(
  response: ServerResponse,
  cookie: string,
  { byPage }: { byPage: boolean },
): void {
  const headers = { 'Set-Cookie': cookie }
  if (!byPage) {
    send(response, 303, '', { ...headers, Location: '/' })
    return
  }
  // Redirect from a page on the UI's own origin, so that the browser sends the Strict cookie.
  sendPage(
    response,
    200,
    {
      title: 'Kernel Ladder',
      head: '<meta http-equiv="refresh" content="0;url=/">\n',
      body: '<p><a href="/">Open Kernel Ladder</a></p>',
    },
    headers,
  )
}
