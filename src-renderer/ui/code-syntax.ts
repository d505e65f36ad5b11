/**
 * C++ with the syntax trees of whole texts kept: a walk through a ladder shows each source twice and more, and parsing one of 1,500
 * lines takes as long as all else together.
 */
import { cppLanguage } from '@codemirror/lang-cpp'
import { LanguageSupport } from '@codemirror/language'

type Wrap = NonNullable<Parameters<typeof cppLanguage.configure>[0]['wrap']>
type Input = Parameters<Wrap>[1]
type PartialParse = ReturnType<Wrap>
type Tree = NonNullable<ReturnType<PartialParse['advance']>>

const kept = new Map<string, Tree>()
/** Sources of the pairs around the one in view. */
const most = 16

function keep(text: string, tree: Tree): void {
  kept.delete(text)
  kept.set(text, tree)
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
}

const finished = (tree: Tree): PartialParse => ({
  advance: () => tree,
  parsedPos: tree.length,
  stopAt: () => undefined,
  stoppedAt: null,
})

function parseOnce(parse: PartialParse, input: Input): PartialParse {
  const text = input.read(0, input.length)
  const known = kept.get(text)
  if (known) {
    keep(text, known)
    return finished(known)
  }
  return {
    advance() {
      const tree = parse.advance()
      if (tree && parse.stoppedAt === null) keep(text, tree)
      return tree
    },
    get parsedPos() {
      return parse.parsedPos
    },
    stopAt: (position) => parse.stopAt(position),
    get stoppedAt() {
      return parse.stoppedAt
    },
  }
}

const language = cppLanguage.configure({ wrap: (parse, input) => parseOnce(parse, input) })

/** For texts that nobody edits: each version of one would be kept. */
export const keptCpp = (): LanguageSupport => new LanguageSupport(language)
