/** Sentences made from figures, before a screen or printer formats them. */

/** A piece of a sentence: text, or a name to be set as code. */
export type Piece = string | { code: string }

export type Sentence = Piece[]

/** A sentence template; inserted objects are kept as pieces. */
export const say = (words: TemplateStringsArray, ...pieces: Piece[]): Sentence =>
  words.flatMap((text, index) => {
    const piece = pieces[index]
    return piece === undefined ? [text] : [text, piece]
  })

export const code = (text: string): Piece => ({ code: text })
