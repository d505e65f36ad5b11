/**
 * The Korean locale. It has the keys and placeholders of ../en, the metrics, messages, and ladder
 * texts, and the rules for particles, whose form depends on the preceding word.
 */
import metrics from './metrics.json'
import screens from './screens.json'
import statements from './statements.json'

export { default as ladders } from './ladders.yaml'
export default { ...screens, metrics, statements }

/**
 * Particles as written in templates, with their forms after a consonant, after ㄹ, and after a
 * vowel.
 */
const particles: Record<string, readonly [string, string, string]> = {
  '은(는)': ['은', '은', '는'],
  '이(가)': ['이', '이', '가'],
  '을(를)': ['을', '을', '를'],
  '과(와)': ['과', '과', '와'],
  '와(과)': ['과', '과', '와'],
  '(으)로': ['으로', '로', '로'],
  '(이)라': ['이라', '이라', '라'],
}
const anyParticle = /(?:은\(는|이\(가|을\(를|과\(와|와\(과)\)|\(으\)로|\(이\)라/g

/** How the pronounced word ends: 0 for a consonant, 1 for ㄹ, 2 for a vowel. */
type Ending = 0 | 1 | 2

/** Pronounced names of letters and digits: 엘, 엠, 영, 일. */
const byName: Record<string, Ending> = {
  m: 0,
  n: 0,
  l: 1,
  r: 1,
  0: 0,
  3: 0,
  6: 0,
  1: 1,
  7: 1,
  8: 1,
}

/**
 * Endings of foreign words as written in Hangul: 타일, 레인, 사이즈. Endings that depend on the word are
 * left out.
 */
const foreign: readonly [RegExp, Ending][] = [
  [/le?$/, 1],
  [/(?:[mn]|ng|[aeiou][mn]e)$/, 0],
  [/(?:[adfhijoqrsuvwxyz]|[^lmnp]e)$/, 2],
]

function endingOf(text: string): Ending | undefined {
  // A particle does not depend on a trailing parenthesis, and a quotation ends like the text it
  // quotes.
  const word = text.replace(/\s*\([^()]*\)$/, '').replace(/["'”’`\]]+$/, '')
  const last = word.at(-1) ?? ''
  if (/[가-힣]/.test(last)) {
    const final = (last.codePointAt(0)! - 0xac00) % 28
    return final === 0 ? 2 : final === 8 ? 1 : 0
  }
  if (/[²³]/.test(last)) return 0
  if (/[%×]/.test(last)) return 2
  const letters = /[a-z]+$/i.exec(word)?.[0].toLowerCase()
  if (/\d$/.test(last) || (letters !== undefined && !/[aeiouy]/.test(letters)))
    return byName[last.toLowerCase()] ?? 2
  return foreign.find(([pattern]) => letters !== undefined && pattern.test(letters))?.[1]
}

/**
 * Returns the text with each particle in the form that the preceding word requires: 타일을, 커널은, 3으로.
 * Both forms stay if the word's pronunciation is unknown.
 */
export const settle = (text: string, before = ''): string =>
  text.replace(anyParticle, (both, at: number) => {
    const ending = endingOf(before + text.slice(0, at))
    return ending === undefined ? both : particles[both]![ending]
  })
