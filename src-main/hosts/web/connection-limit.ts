/**
 * Limits the number of connections. At the limit, a new connection replaces the oldest
 * unauthenticated connection.
 *
 * Every user of a shared machine can connect to the server. If new connections were rejected at the
 * limit, other users could lock out the owner.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Connections {
  /** Marks a connection as authenticated. */
  admit(socket: Socket): void
}

export function limitConnections(server: Server, mostStrangers: number): Connections {
  /** Unauthenticated connections in order of arrival. */
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
