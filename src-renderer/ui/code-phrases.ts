/** CodeMirror's own English phrases and the keys of their translations (`code.<key>`). */
const phraseKeys = {
  Find: 'find',
  Replace: 'replaceField',
  next: 'next',
  previous: 'previous',
  all: 'all',
  'match case': 'matchCase',
  regexp: 'regexp',
  'by word': 'byWord',
  replace: 'replace',
  'replace all': 'replaceAll',
  close: 'close',
  'current match': 'currentMatch',
  'on line': 'onLine',
  'replaced match on line $': 'replacedMatch',
  'replaced $ matches': 'replacedMatches',
  'Go to line': 'goToLine',
  go: 'go',
  Diagnostics: 'diagnostics',
  'No diagnostics': 'noDiagnostics',
  '$ unchanged lines': 'unchangedLines',
} as const

/** Returns CodeMirror's phrases in the current language. The keys are the English phrases. */
export const codePhrases = (t: (key: string) => string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(phraseKeys).map(([english, key]) => [english, t(`code.${key}`)]),
  )
