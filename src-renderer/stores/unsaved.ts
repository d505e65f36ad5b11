/**
 * Stores an edit that the core has not saved yet. The edit is stored at each keystroke, for this
 * tab only. Session storage survives a reload, and other tabs cannot overwrite it.
 */
import { z } from 'zod'

const keyOf = (name: string): string => `kernel-ladder-unsaved:${name}`

/** Returns the stored edit, or null if no edit is stored or the browser denies storage. */
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
    // Ignore a storage failure, because the core still saves the edit after the usual pause.
  }
}

export function dropUnsaved(name: string): void {
  try {
    sessionStorage.removeItem(keyOf(name))
  } catch {
    // If storage is denied, there is nothing to remove.
  }
}
