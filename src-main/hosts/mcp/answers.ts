/** Answers of tools: one JSON object, summary first, lists in pages, errors with a remedy. */
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

/** The input of a tool that lists. */
export const pageInput = {
  from: z.number().int().min(0).default(0).describe('index of the first entry'),
  limit: z.number().int().min(1).max(200).default(20).describe('most entries to return'),
}

interface PageRequest {
  from: number
  limit: number
}

/** `next` is what to ask for as `from`; null at the end. */
export function page<T>(
  all: readonly T[],
  { from, limit }: PageRequest,
): { total: number; next: number | null; entries: T[] } {
  const entries = all.slice(from, from + limit)
  const end = from + entries.length
  return { total: all.length, next: end < all.length ? end : null, entries }
}

/** `1 rung`, `2 rungs` */
export const counted = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`

/** Six digits are more than any counter needs; absent stays absent. */
export const rounded = (value: number | null | undefined): number | null =>
  value == null ? null : Number(value.toPrecision(6))
