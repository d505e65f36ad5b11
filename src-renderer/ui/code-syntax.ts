/** Selects a source's language by file name: CUDA C++, Python, or plain text. */
import { cpp, cppLanguage } from '@codemirror/lang-cpp'
import { LanguageSupport, LRLanguage } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { parser } from '@lezer/python'
import { isPythonFile } from '../../src-main/domain/ladder/rung'

type Wrap = NonNullable<Parameters<typeof cppLanguage.configure>[0]['wrap']>
type Input = Parameters<Wrap>[1]
type PartialParse = ReturnType<Wrap>
type Tree = NonNullable<ReturnType<PartialParse['advance']>>

const pythonLanguage = LRLanguage.define({
  name: 'python',
  parser,
  languageData: { commentTokens: { line: '#' }, indentOnInput: /^\s*[})\]]$/ },
})

const isYaml = (file: string): boolean => /\.ya?ml$/.test(file)

/** Returns the syntax extension for an editor. */
export const syntaxOf = (file: string): Extension =>
  isPythonFile(file) ? new LanguageSupport(pythonLanguage) : isYaml(file) ? [] : cpp()

/**
 * Maximum number of cached syntax trees, enough for the current pair of rungs and the pairs before
 * and after it.
 */
const most = 16

const finished = (tree: Tree): PartialParse => ({
  advance: () => tree,
  parsedPos: tree.length,
  stopAt: () => undefined,
  stoppedAt: null,
})

function keeping(language: LRLanguage): LanguageSupport {
  const kept = new Map<string, Tree>()

  function keep(text: string, tree: Tree): void {
    kept.delete(text)
    kept.set(text, tree)
    const [oldest] = kept.keys()
    if (kept.size > most && oldest !== undefined) kept.delete(oldest)
  }

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

  return new LanguageSupport(
    language.configure({ wrap: (parse, input) => parseOnce(parse, input) }),
  )
}

const keptCpp = keeping(cppLanguage)
const keptPython = keeping(pythonLanguage)

/**
 * Returns the cached syntax for read-only source. Do not use this function for edited source,
 * because every version would be cached.
 */
export const cachedSyntaxOf = (file: string): LanguageSupport =>
  isPythonFile(file) ? keptPython : keptCpp

/**
 * Parses and caches a source before an editor shows it. Without this call, the editor would parse
 * the source before its first draw.
 */
export const parseAhead = (text: string, file: string): void =>
  void cachedSyntaxOf(file).language.parser.parse(text)
