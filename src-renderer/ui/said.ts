/**
 * What the domain says, in the language shown. English is the domain's own; the other locales hold the
 * same templates under `said.<key>`. What a file says in English is read back where it is ours.
 */
import { useI18n } from 'vue-i18n'
import {
  englishTemplate,
  paragraph,
  pieces,
  plain,
  type MessageKey,
  type Said,
  type Wording,
} from '../../src-main/domain/messages/message'
import { metricLabelled, recognize } from '../../src-main/domain/messages/recognize'
import { metricDefinition } from '../../src-main/domain/metrics'
import type { Sentence } from '../../src-main/domain/sentence'

export function useSaid() {
  const { t, te, tm, locale } = useI18n()

  const own: Wording = {
    template(key: MessageKey): string {
      const path = `said.${key}`
      // Not t(): it would set in values of its own and read `|` and `@` as its syntax.
      const words: unknown = te(path) ? tm(path) : undefined
      return typeof words === 'string' ? words : englishTemplate(key)
    },
    metric(id: string): string {
      const path = `metrics.${id}.label`
      if (id === 'time') return own.template('figures.time')
      return te(path) ? t(path) : (metricDefinition(id)?.label ?? id)
    },
    // A Chinese full stop brings its own space.
    get space() {
      return locale.value === 'zh-CN' ? '' : ' '
    },
  }
  /** What a file says, as a message where it is one of ours. */
  const understood = (said: Said): Said =>
    typeof said === 'string' && locale.value !== 'en' ? (recognize(said) ?? said) : said

  return {
    /** With its names as code. */
    sentence: (said: Said): Sentence => pieces(understood(said), own),
    text: (said: Said): string => plain(pieces(understood(said), own)),
    /** Several sentences that belong together. */
    passage: (parts: readonly Said[]): Sentence => paragraph(parts.map(understood), own),
    /** A name that a file gives in English: a metric's label, or a word of ours. */
    label(text: string): string {
      const id = metricLabelled(text)
      return id === undefined ? plain(pieces(understood(text), own)) : own.metric(id)
    },
  }
}
