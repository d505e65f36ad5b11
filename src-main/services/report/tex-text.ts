/** LaTeX from texts that may hold anything; what comes out needs only booktabs, and compiles. */
import { type Sentence } from '../../domain/messages/sentence'
import { codePoint, oneLine } from '../../domain/text/visible'

const replacements: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  '%': '\\%',
  _: '\\_',
  '^': '\\textasciicircum{}',
  '~': '\\textasciitilde{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '"': '{\\char34}',
  "'": '\\textquotesingle{}',
  '`': '\\textasciigrave{}',
  '[': '{[}',
  ']': '{]}',
  '×': '$\\times$',
  '±': '$\\pm$',
  '·': '$\\cdot$',
  '³': '\\textsuperscript{3}',
  '→': '$\\rightarrow$',
  '○': '$\\circ$',
  µ: '\\textmu{}',
  '–': '--',
  '—': '---',
  '’': '\\textquoteright{}',
  '…': '\\ldots{}',
}

/** Letters that LaTeX sets in any of its encodings without a package; others are named by their code point. */
const isSet = (character: string): boolean =>
  /^[\u0020-\u007eÀ-ÖØ-öø-ÿ]$/u.test(character) && !/[ÐÞðþ]/u.test(character)

export const tex = (text: string): string =>
  [...oneLine(text)]
    .map((character, index, all) => {
      // Hyphens in a row would join into a dash.
      if (character === '-' && all[index + 1] === '-') return '-{}'
      const instead = replacements[character]
      if (instead !== undefined) return instead
      return isSet(character) ? character : `{[}${codePoint(character)}{]}`
    })
    .join('')

/** Code, which may break after a comma: a list of rungs is one long word. */
export const texCode = (text: string): string =>
  `\\texttt{${tex(text).replaceAll(',', ',\\allowbreak{}')}}`

export const texSentence = (sentence: Sentence): string =>
  sentence
    .map((piece) => {
      if (typeof piece !== 'string') return texCode(piece.code)
      // The spaces that set a piece off from its neighbours stay.
      const [before, after] = [/^\s/, /\s$/].map((edge) => (edge.test(piece) ? ' ' : ''))
      return `${before}${tex(piece)}${after}`
    })
    .join('')

/** A line that LaTeX ignores; the text is brought onto one line, so that none of it is set. */
export const texComment = (text: string): string => `% ${oneLine(text)}`
