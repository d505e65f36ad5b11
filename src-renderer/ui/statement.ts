/**
 * What the domain says, in the language shown. English is the domain's own; the other locales hold the
 * same templates under `said.<key>`. What a file says in English is read back where it is ours.
 */
import { useI18n } from 'vue-i18n'
import {
  englishTemplate,
  paragraph,
  plain,
  type MessageKey,
  type Statement,
  type Wording,
} from '../../src-main/domain/messages/message'
import { metricLabelled, recognizeAll } from '../../src-main/domain/messages/recognize'
import { metricDefinition } from '../../src-main/domain/metrics/metrics'
import type { Sentence } from '../../src-main/domain/messages/sentence'

export function useStatement() {
  const { t, te, tm, locale } = useI18n()

  const own: Wording = {
    template(key: MessageKey): string {
      const path = `statements.${key}`
      // Not t(): it would set in values of its own and read `|` and `@` as its syntax.
      const words: unknown = te(path) ? tm(path) : undefined
      return typeof words === 'string' ? words : englishTemplate(key)
    },
    metric(id: string): string {
      const path = `metrics.${id}.label`
      if (id === 'time') return own.template('figures.time')
      return te(path) ? t(path) : (metricDefinition(id)?.label ?? id)
    },
  }
  /** What a file says, as messages where it is ours. */
  const understood = (statement: Statement): Statement[] =>
    typeof statement === 'string' && locale.value !== 'en' ? recognizeAll(statement) : [statement]

  return {
    /** With its names as code. */
    sentence: (statement: Statement): Sentence => paragraph(understood(statement), own),
    text: (statement: Statement): string => plain(paragraph(understood(statement), own)),
    /** Several sentences that belong together. */
    passage: (parts: readonly Statement[]): Sentence => paragraph(parts.flatMap(understood), own),
    /** A name that a file gives in English: a metric's label, or a word of ours. */
    label(text: string): string {
      const id = metricLabelled(text)
      return id === undefined ? plain(paragraph(understood(text), own)) : own.metric(id)
    },
  }
}
