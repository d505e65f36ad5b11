/**
 * Allows one run per GPU at a time, across all users and folders of this machine. Concurrent
 * measurements would disturb each other.
 *
 * The lock is a listening socket in the kernel's abstract namespace. The socket leaves no file to
 * forge or clean up and needs no permission. The kernel releases the socket when its owner ends.
 * Waiting processes ask the socket who holds the lock. Another network namespace, such as a
 * container's, has separate locks.
 */
import { createServer, connect, type Server, type Socket } from 'node:net'
import { userInfo } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

/** The holder's description of itself. Any user can create one, so only its shape is validated. */
const Holder = z.object({
  pid: z.number().int().positive(),
  user: z.string().regex(/^[\w.@\\+$-]{1,64}$/),
  since: z.iso.datetime(),
})
export type GpuHolder = z.infer<typeof Holder>

interface GpuLock {
  release(): void
}

/** The result of an attempt to take the lock. */
export type GpuClaim =
  | { state: 'held'; lock: GpuLock }
  /** The holder, or null if it does not identify itself. */
  | { state: 'taken'; by: GpuHolder | null }
  | { state: 'cancelled' }
  /** The machine has no such sockets, or this process may not create them. */
  | { state: 'unavailable'; reason: string }

export interface GpuClaimCall {
  /** The PCI bus id in the format of normalizePciBusId. */
  pciBusId: string
  /** Whether to wait if another process holds the lock. */
  wait: boolean
  signal: AbortSignal
  /** Called once per holder that the call waits for. */
  onWait: (by: GpuHolder | null) => void
}

/** The time that a holder has to identify itself. */
const answerMs = 2000
/** A holder that hangs up this many times in a row counts as silent. */
const silentTries = 10
/** The pause between two attempts. */
const pauseMs = 100
/**
 * The interval of checks for a holder that disappeared without closing the socket, as after a
 * suspend.
 */
const lookAgainMs = 30_000
/** The maximum length of a holder's description. */
const answerLimit = 1000

/**
 * The length of the socket's name, which is the maximum. Node before 22 pads shorter names with
 * zeros, which makes them different names.
 */
const addressLength = 108

function addressOf(pciBusId: string): string {
  const name = `kernel-ladder-gpu-${pciBusId.replaceAll(':', '-')}`
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\${name}`
    : `\0${name}`.padEnd(addressLength, '.')
}

function self(): GpuHolder {
  const since = new Date().toISOString()
  try {
    const user = Holder.shape.user.safeParse(userInfo().username).data
    return { pid: process.pid, user: user ?? 'unknown', since }
  } catch {
    // The user id may have no entry in the password file.
    return { pid: process.pid, user: `uid-${process.getuid?.() ?? 'unknown'}`, since }
  }
}

/** Listens at the address. Returns the lock or the error. */
function listen(address: string): Promise<GpuLock | NodeJS.ErrnoException> {
  const greeting = `${JSON.stringify(self())}\n`
  const waiting = new Set<Socket>()
  const server: Server = createServer((socket) => {
    waiting.add(socket)
    // Waiting processes must not keep a run alive.
    socket.unref()
    socket.on('error', () => undefined)
    socket.on('close', () => waiting.delete(socket))
    socket.resume()
    // Keep the socket open, because closing it signals that the GPU is free.
    socket.write(greeting)
  })
  server.maxConnections = 256
  return new Promise((resolve) => {
    server.once('error', resolve)
    server.listen(address, () => {
      server.off('error', resolve)
      server.on('error', () => undefined)
      server.unref()
      resolve({
        release() {
          server.close()
          for (const socket of waiting) socket.destroy()
        },
      })
    })
  })
}

/**
 * Reports the holder once, or null if the holder does not identify itself. Resolves when the lock
 * may have been released.
 */
function watch(
  address: string,
  signal: AbortSignal,
  onHolder: (by: GpuHolder | null) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let received = ''
    let reported = false
    const socket = connect(address)
    const tell = (by: GpuHolder | null): void => {
      if (reported) return
      reported = true
      onHolder(by)
    }
    const silence = setTimeout(() => tell(null), answerMs)
    const again = setTimeout(finish, lookAgainMs)
    function finish(): void {
      clearTimeout(silence)
      clearTimeout(again)
      signal.removeEventListener('abort', finish)
      socket.destroy()
      resolve()
    }
    signal.addEventListener('abort', finish, { once: true })
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      if (reported) return
      received += text
      const end = received.indexOf('\n')
      if (end >= 0) tell(parseHolder(received.slice(0, end)))
      else if (received.length > answerLimit) tell(null)
    })
    socket.on('error', finish)
    socket.on('close', finish)
    if (signal.aborted) finish()
  })
}

function parseHolder(line: string): GpuHolder | null {
  try {
    return Holder.safeParse(JSON.parse(line)).data ?? null
  } catch {
    return null
  }
}

/** Takes the lock of a GPU, or waits for it. */
export async function claimGpu(call: GpuClaimCall): Promise<GpuClaim> {
  const { signal, wait } = call
  const address = addressOf(call.pciBusId)
  let lastReported: string | null = null
  for (let silent = 0; !signal.aborted;) {
    const listening = await listen(address)
    if ('release' in listening) {
      if (!signal.aborted) return { state: 'held', lock: listening }
      listening.release()
      break
    }
    if (listening.code !== 'EADDRINUSE') return { state: 'unavailable', reason: listening.message }

    // Without waiting, stop after the holder has identified itself.
    const enough = new AbortController()
    let taken: { by: GpuHolder | null } | undefined
    const tell = (by: GpuHolder | null): void => {
      silent = 0
      taken = { by }
      enough.abort()
      const name = JSON.stringify(by)
      if (wait && name !== lastReported) call.onWait(by)
      lastReported = name
    }
    silent += 1
    await watch(address, wait ? signal : AbortSignal.any([signal, enough.signal]), tell)
    if (silent >= silentTries) tell(null)
    if (!wait && taken && !signal.aborted) return { state: 'taken', by: taken.by }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined)
  }
  return { state: 'cancelled' }
}
