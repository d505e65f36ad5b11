/**
 * The domain's statements in the current language. The domain has the English templates; the other
 * locales have theirs under `statements.<key>`. Texts of authors in them are translated as everywhere.
 */
import { computed } from 'vue'
import { useI18n } from 'vue-i18n'
import {
  englishTemplate,
  type MessageKey,
  type Statement,
} from '../../src-main/domain/messages/message'
import { paragraph, pieces, plain, type Wording } from '../../src-main/domain/text/english'
import { metricDefinition } from '../../src-main/domain/metrics/metrics'
import { own as ownText } from './authored'
import { unitInLanguage } from './format'
import { CoreError, LineError } from '../client/client'
import type { Sentence } from '../../src-main/domain/messages/sentence'

/** Makes a sentence right for the values that were set into it: particles, gaps. `before` is what stands before the text. */
export type Settle = (text: string, before?: string) => string
let settle: Settle | undefined
export const settleWith = (way: Settle | undefined): void => {
  settle = way
}
export const settled: Settle = (text, before) => settle?.(text, before) ?? text

function settledSentence(sentence: Sentence): Sentence {
  const joined: Sentence = []
  for (const piece of sentence) {
    const last = joined.at(-1)
    if (typeof piece === 'string' && typeof last === 'string')
      joined[joined.length - 1] = last + piece
    else joined.push(piece)
  }
  return joined.map((piece, at) =>
    typeof piece === 'string' ? settled(piece, plain(joined.slice(0, at))) : piece,
  )
}

/** Words without parameters, each looked up once a language: a row that is scrolled into view asks for dozens. */
export function useWords(): (key: string) => string {
  const { t, locale } = useI18n()
  const known = computed(() => ({ language: locale.value, words: new Map<string, string>() }))
  return (key) => {
    const { words } = known.value
    const found = words.get(key) ?? t(key)
    words.set(key, found)
    return found
  }
}

export function useStatement() {
  const { t, te, tm } = useI18n()

  const own: Wording = {
    template(key: MessageKey): string {
      const path = `statements.${key}`
      // Not t(): it would interpolate by itself and treat `|` and `@` as syntax.
      const words: unknown = te(path) ? tm(path) : undefined
      return typeof words === 'string' ? words : englishTemplate(key)
    },
    metric(id: string): string {
      const path = `metrics.${id}.label`
      if (id === 'time') return own.template('figures.time')
      return te(path) ? t(path) : (metricDefinition(id)?.label ?? id)
    },
    text: (text) => unitInLanguage(ownText(text)),
  }

  return {
    /** A sentence with names marked as code. */
    sentence: (statement: Statement): Sentence => settledSentence(pieces(statement, own)),
    text: (statement: Statement): string => settled(plain(pieces(statement, own))),
    /** Several sentences as one paragraph. */
    passage: (parts: readonly Statement[]): Sentence => settledSentence(paragraph(parts, own)),
  }
}

/** Keys below `errors.` in the locale, or the core's own message. */
export type ErrorWords =
  | { from: 'core'; message: Statement; remedy: Statement | undefined }
  | { from: 'line'; key: LineError['fault']; call: string }

export function errorWords(error: unknown): ErrorWords {
  if (error instanceof LineError) return { from: 'line', key: error.fault, call: error.call }
  if (error instanceof CoreError)
    return { from: 'core', message: error.statement, remedy: error.remedy }
  return {
    from: 'core',
    message: error instanceof Error ? error.message : String(error),
    remedy: undefined,
  }
}
