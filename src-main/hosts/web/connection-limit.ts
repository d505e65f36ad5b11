/**
 * Limits connections: the newest one replaces the oldest unauthenticated one.
 *
 * Every user of a shared machine can connect to the server, so a fixed limit would let them lock out its owner.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Connections {
  /** Marks a connection that has sent an authenticated request. */
  admit(socket: Socket): void
}

export function limitConnections(server: Server, mostStrangers: number): Connections {
  /** In order of arrival. */
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
