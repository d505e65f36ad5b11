/**
 * One program at a time on a GPU, among all users and folders of this machine: two that measure at once
 * would time one another.
 *
 * The lock is a socket that only one process can listen on, in the kernel's own name space where there is
 * no file to forge, to forget or to be refused; the kernel lets go of it when its owner ends, however that
 * ends. Who has to wait is told there who holds it. Another network name space, a container's say, has
 * names of its own.
 */
import { createServer, connect, type Server, type Socket } from 'node:net'
import { userInfo } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

/** As it tells of itself, to any user: nothing of it is to be believed beyond its shape. */
const Holder = z.object({
  pid: z.number().int().positive(),
  user: z.string().regex(/^[\w.@\\+$-]{1,64}$/),
  since: z.iso.datetime(),
})
export type GpuHolder = z.infer<typeof Holder>

export interface GpuLock {
  release(): void
}

/** How a try to take the lock ended. */
export type GpuClaim =
  | { state: 'held'; lock: GpuLock }
  /** null: whoever it is does not say. */
  | { state: 'taken'; by: GpuHolder | null }
  | { state: 'cancelled' }
  /** This machine has no such sockets, or this process may not make any. */
  | { state: 'unavailable'; reason: string }

export interface GpuClaimCall {
  /** As normalizePciBusId writes it. */
  pciBusId: string
  /** false: come back at once when another has it. */
  wait: boolean
  signal: AbortSignal
  /** Called once for each holder that is waited for. */
  onWait: (by: GpuHolder | null) => void
}

/** A holder has so long to say who it is. */
const answerMs = 2000
/** One that hangs up on so many tries in a row does not say. */
const silentTries = 10
/** Between two tries, whatever the holder does. */
const pauseMs = 100
/** A holder that went without a word of it, as a suspended machine's may, is found out this soon. */
const lookAgainMs = 30_000
/** What a holder may say of itself. */
const answerLimit = 1000

/**
 * The name is as long as one can be: Node before 22 fills a shorter one up with zeros, which makes it
 * another name than that of a later Node.
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
    // The user id has no entry in the password file.
    return { pid: process.pid, user: `uid-${process.getuid?.() ?? 'unknown'}`, since }
  }
}

/** Listens at the address; what the system says against it, else. */
function listen(address: string): Promise<GpuLock | NodeJS.ErrnoException> {
  const said = `${JSON.stringify(self())}\n`
  const waiting = new Set<Socket>()
  const server: Server = createServer((socket) => {
    waiting.add(socket)
    // A run is not kept alive by those who wait for it.
    socket.unref()
    socket.on('error', () => undefined)
    socket.on('close', () => waiting.delete(socket))
    socket.resume()
    // It stays open: its end tells that the GPU is free.
    socket.write(said)
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

/** Who holds the lock, told once, and null when it does not say; resolves when it may have let go. */
function watch(
  address: string,
  signal: AbortSignal,
  onHolder: (by: GpuHolder | null) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let said = ''
    let told = false
    const socket = connect(address)
    const tell = (by: GpuHolder | null): void => {
      if (told) return
      told = true
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
      if (told) return
      said += text
      const end = said.indexOf('\n')
      if (end >= 0) tell(parseHolder(said.slice(0, end)))
      else if (said.length > answerLimit) tell(null)
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
  let toldOf: string | null = null
  for (let silent = 0; !signal.aborted;) {
    const listening = await listen(address)
    if ('release' in listening) {
      if (!signal.aborted) return { state: 'held', lock: listening }
      listening.release()
      break
    }
    if (listening.code !== 'EADDRINUSE') return { state: 'unavailable', reason: listening.message }

    // Without waiting it is enough to know who.
    const enough = new AbortController()
    let taken: { by: GpuHolder | null } | undefined
    const tell = (by: GpuHolder | null): void => {
      silent = 0
      taken = { by }
      enough.abort()
      const name = JSON.stringify(by)
      if (wait && name !== toldOf) call.onWait(by)
      toldOf = name
    }
    silent += 1
    await watch(address, wait ? signal : AbortSignal.any([signal, enough.signal]), tell)
    if (silent >= silentTries) tell(null)
    if (!wait && taken && !signal.aborted) return { state: 'taken', by: taken.by }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined)
  }
  return { state: 'cancelled' }
}
