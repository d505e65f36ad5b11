/** Converts arbitrary text to LaTeX that needs no package other than booktabs. */
import type { Sentence } from '../../domain/messages/sentence'
import { oneLine, codePoint } from '../../domain/text/hidden-characters'

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

/**
 * Whether LaTeX can typeset a character in any encoding without a package. Other characters are
 * replaced with their code points.
 */
const isSet = (character: string): boolean =>
  /^[\u0020-\u007eÀ-ÖØ-öø-ÿ]$/u.test(character) && !/[ÐÞðþ]/u.test(character)

export const tex = (text: string): string =>
  [...oneLine(text)]
    .map((character, index, all) => {
      // LaTeX would convert consecutive hyphens to a dash.
      if (character === '-' && all[index + 1] === '-') return '-{}'
      const instead = replacements[character]
      if (instead !== undefined) return instead
      return isSet(character) ? character : `{[}${codePoint(character)}{]}`
    })
    .join('')

/**
 * Returns code in which LaTeX may break lines after commas. Otherwise, a list of rungs would be one
 * long word.
 */
export const texCode = (text: string): string =>
  `\\texttt{${tex(text).replaceAll(',', ',\\allowbreak{}')}}`

export const texSentence = (sentence: Sentence): string =>
  sentence
    .map((piece) => {
      if (typeof piece !== 'string') return texCode(piece.code)
      // Keep leading and trailing spaces, because they separate adjacent parts of the text.
      const [before, after] = [/^\s/, /\s$/].map((edge) => (edge.test(piece) ? ' ' : ''))
      return `${before}${tex(piece)}${after}`
    })
    .join('')

/** Returns a LaTeX comment. Joins the text into one line, so that LaTeX typesets no part of it. */
export const texComment = (text: string): string => `% ${oneLine(text)}`
