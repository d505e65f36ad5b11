/** Sentences that are made from figures, before a screen or a printer gives them a form. Pure. */

/** A piece of a sentence: words, or a name that is set as code. */
export type Piece = string | { code: string }
export type Sentence = Piece[]

/** A template of a sentence; what is inserted as an object stays one. */
export const say = (words: TemplateStringsArray, ...pieces: Piece[]): Sentence =>
  words.flatMap((text, index) => {
    const piece = pieces[index]
    return piece === undefined ? [text] : [text, piece]
  })

export const code = (text: string): Piece => ({ code: text })
