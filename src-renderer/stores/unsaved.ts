/**
 * An edit that the core has not saved yet, kept for this tab at each keystroke. Session storage survives a reload, and no
 * other tab can replace what this one keeps.
 */
import { z } from 'zod'

const keyOf = (name: string): string => `kernel-ladder-unsaved:${name}`

/** null if there is none, or storage is denied. */
export function readUnsaved<T>(name: string, shape: z.ZodType<T>): T | null {
  try {
    return shape.parse(JSON.parse(sessionStorage.getItem(keyOf(name)) ?? 'null'))
  } catch {
    return null
  }
}

export function keepUnsaved(name: string, edit: unknown): void {
  try {
    sessionStorage.setItem(keyOf(name), JSON.stringify(edit))
  } catch {
    // The edit is still saved by the core after the usual pause.
  }
}

export function dropUnsaved(name: string): void {
  try {
    sessionStorage.removeItem(keyOf(name))
  } catch {
    // Nothing could be kept either.
  }
}
