/**
 * Allows one run per GPU at a time, across all users and folders on this machine. Concurrent
 * measurements would distort each other.
 *
 * The lock is a listening socket in the kernel's abstract namespace. The socket leaves no file to
 * forge or clean up and needs no permission. The kernel releases the socket when its owner exits.
 * Waiting processes connect to the socket to learn who holds the lock. Other network namespaces,
 * such as a container's, have separate locks.
 */
import { createServer, connect, type Server, type Socket } from 'node:net'
import { userInfo } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

/**
 * A lock owner's description of itself. Any user can create the lock's socket, so the description
 * is untrusted and its format is validated.
 */
const Holder = z.object({
  pid: z.number().int().positive(),
  user: z.string().regex(/^[\w.@\\+$-]{1,64}$/),
  since: z.iso.datetime(),
})
export type GpuHolder = z.infer<typeof Holder>

interface GpuLock {
  release(): void
}

/** Result of an attempt to acquire the lock. */
export type GpuClaim =
  | { state: 'held'; lock: GpuLock }
  /** The lock's owner, or null if the owner does not identify itself. */
  | { state: 'taken'; by: GpuHolder | null }
  | { state: 'cancelled' }
  /** The machine has no abstract sockets, or this process may not create them. */
  | { state: 'unavailable'; reason: string }

export interface GpuClaimCall {
  /** PCI bus id in the format that normalizePciBusId returns. */
  pciBusId: string
  /** Whether to wait while another process holds the lock. */
  wait: boolean
  signal: AbortSignal
  /** Called once for each lock owner that the call waits for. */
  onWait: (by: GpuHolder | null) => void
}

/** Time in milliseconds for a lock owner to identify itself. */
const answerMs = 2000
/**
 * Number of consecutive connections closed without an answer, after which a lock owner is
 * considered silent.
 */
const silentTries = 10
/** Pause between two attempts to acquire the lock, in milliseconds. */
const pauseMs = 100
/**
 * Interval in milliseconds for checking whether the lock owner disappeared without closing the
 * socket, for example after a suspend.
 */
const lookAgainMs = 30_000
/** Maximum length of a lock owner's description. */
const answerLimit = 1000

/**
 * Length of the socket's name. This is the maximum for an abstract socket. Versions of Node before
 * 22 pad shorter names with zeros, which results in different names.
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
    // The user id can be missing from the password file.
    return { pid: process.pid, user: `uid-${process.getuid?.() ?? 'unknown'}`, since }
  }
}

/** Tries to listen at the lock's address. Returns the lock, or the error if listening fails. */
function listen(address: string): Promise<GpuLock | NodeJS.ErrnoException> {
  const greeting = `${JSON.stringify(self())}\n`
  const waiting = new Set<Socket>()
  const server: Server = createServer((socket) => {
    waiting.add(socket)
    // The socket must not prevent the program from exiting.
    socket.unref()
    socket.on('error', () => undefined)
    socket.on('close', () => waiting.delete(socket))
    socket.resume()
    // Keep the connection open, because closing it signals that the GPU is free.
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
 * Reports the lock owner once, or null if the owner does not identify itself. Resolves when the
 * lock may have been released.
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

/** Acquires a GPU's lock. If requested, waits until the lock is free. */
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

    // If the call does not wait, stop as soon as the lock owner has identified itself.
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
