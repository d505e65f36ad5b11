/** What a test reads: a value with every statement in it in English. */
import type { Statement } from '../src-main/domain/messages/message'
import { inEnglish } from '../src-main/domain/text/text'

/** The same shape, but that statements are texts. */
export type Said<T> = T extends string | number | boolean | null | undefined
  ? T
  : Exclude<Statement, string> extends T
    ? string
    : T extends Exclude<Statement, string>
      ? string
      : { [Key in keyof T]: Said<T[Key]> }

const isStatement = (value: object): value is Exclude<Statement, string> =>
  ('key' in value && 'values' in value) || 'sentences' in value

export function said<T>(value: T): Said<T> {
  const told = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(told)
    if (typeof one !== 'object' || one === null) return one
    if (isStatement(one)) return inEnglish(one)
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, told(inner)]))
  }
  return told(value) as Said<T>
}

/** Stands for a statement whose English holds the text, or matches the pattern. */
export const saying = (wanted: string | RegExp): unknown => ({
  asymmetricMatch: (value: unknown) => {
    const text = value === undefined ? undefined : inEnglish(value as Statement)
    return typeof wanted === 'string' ? text?.includes(wanted) : wanted.test(text ?? '')
  },
  toString: () => `saying ${wanted}`,
})
