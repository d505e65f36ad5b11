/** Converts a draft's source to a library rung, and a rung's source to a draft. */
import { inEnglish } from '../../domain/text/english'
import { together } from '../../domain/messages/message'
import { toErrorShape, inputError } from '../../domain/errors'
import type { Task } from '../../domain/task/task'
import { parseRungHeader } from '../../parsers/kernels/rung-header'
import { draftFile, type Draft } from '../../domain/ladder/draft'
import { copyHeader } from '../../parsers/kernels/rung-header-edit'
import type { RungSource } from './catalog'

/** Returns the initial text for a copy of a rung. */
export const copiedSource = (
  source: string,
  { rung, base, title }: { rung: string; base: string; title: string },
): string =>
  copyHeader(source, {
    rung,
    title: `${title} (${rung.slice(rung.lastIndexOf('-') + 1)})`,
    after: base,
    idea: `a copy of ${base}; describe here what changes and why it should pay off`,
  })

/**
 * Converts a draft to a rung. Throws an input error with the file and line if the header is
 * invalid.
 */
export function draftRung(
  { rung, source }: Pick<Draft, 'rung' | 'source'>,
  task: Task,
): RungSource {
  const file = draftFile(rung, task.id)
  const header = parseRungHeader(source, file, task)
  if (header.id === rung) return { header, file, text: source }
  const line = source.split('\n').findIndex((text) => /^\/\/\s*@rung\b/.test(text)) + 1
  throw inputError(
    `${file}:${line}: @rung is ${header.id}, but this copy is ${rung}.`,
    `Write "// @rung ${rung}".`,
  )
}

/** Returns a header error's message without its location. */
export const faultText = (error: unknown): string => {
  const { message, remedy } = toErrorShape(error)
  return inEnglish(together(message, remedy)).replace(/^\S+\.cu:(?:\d+:)? /, '')
}
