/**
 * Builds tool results. A result is a JSON object that begins with the summary. Lists are paged, and
 * errors have a remedy.
 */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { toErrorShape } from '../../domain/errors'
import { inEnglish } from '../../domain/text/english'

export type Answer = Record<string, unknown> & { summary: string }

export const answered = (answer: Answer): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(answer) }],
  structuredContent: answer,
})

export function refused(error: unknown): CallToolResult {
  const { kind, message, remedy } = toErrorShape(error)
  const shape = {
    kind,
    message: inEnglish(message),
    ...(remedy === undefined ? {} : { remedy: inEnglish(remedy) }),
  }
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify({ error: shape }) }],
    structuredContent: { error: shape },
  }
}

/** Input fields for paging, used by tools that return lists. */
export const pageInput = {
  from: z.number().int().min(0).default(0).describe('index of the first entry'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(200)
    .default(20)
    .describe('maximum number of entries to return'),
}

interface PageRequest {
  from: number
  limit: number
}

/**
 * Returns a page of entries. `next` is the value of `from` for the next page, or null on the last
 * page.
 */
export function page<T>(
  all: readonly T[],
  { from, limit }: PageRequest,
): { total: number; next: number | null; entries: T[] } {
  const entries = all.slice(from, from + limit)
  const end = from + entries.length
  return { total: all.length, next: end < all.length ? end : null, entries }
}

/** Returns a count with its noun, such as `1 rung` or `2 rungs`. */
export const counted = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`

/**
 * Rounds to six significant digits, which is enough for any counter. Returns null for a missing
 * value.
 */
export const rounded = (value: number | null | undefined): number | null =>
  value == null ? null : Number(value.toPrecision(6))
