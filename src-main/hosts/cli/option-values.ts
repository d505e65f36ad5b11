/** Parses option values. Error messages contain the invalid value. */
import { inputError } from '../../domain/errors'

export function wholeNumber(word: string, name: string, max: number, min = 1): number {
  const value = /^[+-]?\d+$/.test(word) ? Number(word) : NaN
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw inputError(
      `${name} ${JSON.stringify(word)} must be a whole number from ${min} to ${max}.`,
      `For example: ${name} ${Math.min(4096, max)}.`,
    )
  return value
}

/** Parses a GPU index, counted from 0 as in nvidia-smi. */
export const gpuNumber = (word: string): number => wholeNumber(word, '--gpu', 255, 0)

/** Splits a comma-separated list. */
export const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

/**
 * Returns a number for text such as `4096`, or the text itself, such as `bf16`. Callers check
 * whether the value is allowed.
 */
export const numberOrWord = (word: string): number | string =>
  word.trim() !== '' && Number.isFinite(Number(word)) ? Number(word) : word

export function realNumber(word: string | undefined, name: string): number | undefined {
  if (word === undefined) return undefined
  const value = word.trim() === '' ? NaN : Number(word)
  if (!Number.isFinite(value))
    throw inputError(
      `${name} ${JSON.stringify(word)} is not a number.`,
      `For example: ${name} 0.5.`,
    )
  return value
}

/** Parses a part such as `3/40`, which is the third of forty parts. */
export function parsePart(word: string): { number: number; of: number } {
  const [, number, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(word) ?? []
  const part = { number: Number(number), of: Number(of) }
  if (of !== undefined && part.number >= 1 && part.number <= part.of) return part
  throw inputError(`--part ${JSON.stringify(word)} is not of the form 3/40.`)
}
