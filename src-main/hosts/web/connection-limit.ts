/**
 * Limits connections; the oldest unauthenticated connection makes room for the newest.
 *
 * Every user of a shared machine can open connections to the server, and a fixed limit would let them lock its owner
 * out.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Connections {
  /** The connection has sent a request of somebody who is signed in. */
  admit(socket: Socket): void
}

export function limitConnections(server: Server, mostStrangers: number): Connections {
  /** In the order of their arrival. */
  const strangers = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    strangers.add(socket)
    socket.once('close', () => strangers.delete(socket))
    if (strangers.size > mostStrangers) {
      const [oldest] = strangers
      strangers.delete(oldest!)
      oldest!.destroy()
    }
  })
  return { admit: (socket) => strangers.delete(socket) }
}
