/**
 * Formats the domain's statements in the current language. The domain contains the English
 * templates. The other locales contain translations under `statements.<key>`. Author-written text
 * in the statements is translated too.
 */
import { englishTemplate, type Statement } from '../../src-main/domain/messages/message'
import { paragraph, pieces, plain, type Wording } from '../../src-main/domain/text/english'
import { metricDefinition } from '../../src-main/domain/metrics/metrics'
import { own as ownText } from './authored'
import { unitInLanguage } from './format'
import { language } from './language'
import { settled, wordsAt } from './words'
import { CoreError, LineError } from '../client/client'
import type { Sentence } from '../../src-main/domain/messages/sentence'

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

export function useStatement() {
  const own: Wording = {
    get language() {
      return language.value
    },
    template: (key) => wordsAt(`statements.${key}`) ?? englishTemplate(key),
    metric: (id) =>
      id === 'time'
        ? own.template('figures.time')
        : (wordsAt(`metrics.${id}.label`) ?? metricDefinition(id)?.label ?? id),
    text: (text) => unitInLanguage(ownText(text)),
  }

  return {
    /** Returns a statement as a sentence in which names are marked as code. */
    sentence: (statement: Statement): Sentence => settledSentence(pieces(statement, own)),
    text: (statement: Statement): string => settled(plain(pieces(statement, own))),
    /** Returns several statements as one paragraph. */
    passage: (parts: readonly Statement[]): Sentence => settledSentence(paragraph(parts, own)),
  }
}

/**
 * The source of an error's text: the core's own message, or a key under `errors.` in the locale.
 */
type ErrorWords =
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
