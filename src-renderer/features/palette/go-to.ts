/** The screens by the letter that follows g, wherever one is. */
import type { RouteLocationRaw } from 'vue-router'

export const goTos = [
  { key: 'l', name: 'ladder', ofSession: true },
  { key: 'c', name: 'compare', ofSession: true },
  { key: 'm', name: 'matrix', ofSession: true },
  { key: 'h', name: 'charts', ofSession: true },
  { key: 'x', name: 'export', ofSession: true },
  { key: 's', name: 'sessions', ofSession: false },
  { key: 'o', name: 'occupancy', ofSession: false },
  { key: 'r', name: 'run', ofSession: false },
  { key: 'k', name: 'sanitize', ofSession: false },
  { key: 'b', name: 'labs', ofSession: false },
  { key: 'd', name: 'doctor', ofSession: false },
] as const
export type GoTo = (typeof goTos)[number]

/** Home opens the default session, for a screen of a session while there is none. */
export function placeOf({ name, ofSession }: GoTo, sessionRef: string | null): RouteLocationRaw {
  if (!ofSession) return { name }
  return sessionRef === null ? { name: 'home' } : { name, params: { sessionRef } }
}
