/** Sentences with figures, before a UI or a report printer formats them. */

/** A part of a sentence: plain text, or a name to format as code. */
export type Piece = string | { code: string }

export type Sentence = Piece[]

/** Builds a sentence from a template literal. Inserted objects are kept as separate pieces. */
export const say = (words: TemplateStringsArray, ...pieces: Piece[]): Sentence =>
  words.flatMap((text, index) => {
    const piece = pieces[index]
    return piece === undefined ? [text] : [text, piece]
  })

export const code = (text: string): Piece => ({ code: text })
