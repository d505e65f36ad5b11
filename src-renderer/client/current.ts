import type { Client } from './client'

let current: Client | undefined

/** Called once at startup, before any store is used. */
export function provideClient(client: Client): void {
  current = client
}

export function useClient(): Client {
  if (!current) throw new Error('The client is used before it is provided.')
  return current
}
