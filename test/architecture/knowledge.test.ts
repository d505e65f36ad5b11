/**
 * Tests that details such as target kinds or the built-in tasks are used in only one part of the
 * program.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isTest, linesWith, sourcesIn, type SourceFile } from './imports'
import { targetKinds } from '../../src-main/domain/targets/targets'

describe('machines', () => {
  const ownWays = [
    /\b(liveToolbox|diskBuildCache|findTool|localMachine|setUp|scratchFolder)\(/,
    /(?<!toolbox\.)\bclaimGpu\(/,
    /\b(cacheDir|sharedCacheDir|userFolders|sessionsDir|draftsDir|dataDir)\(/,
    /\bhomedir\(/,
    /\bprocess\.p?pid\b/,
  ]

  describe('the services', () => {
    it('access tools, build results, folders, and their own process through the machine interface', () => {
      expect(linesWith(sourcesIn('src-main/services'), ownWays)).toEqual([])
    })
  })

  describe('the rule', () => {
    it.each([
      'const toolbox = liveToolbox(null)',
      'const cache = diskBuildCache(root)',
      'store: sessionsDir(),',
      "join(homedir(), '.cache')",
      "'--owner-pid', String(process.pid),",
    ])('finds %j', (text) => {
      expect(linesWith([{ path: 'a.ts', text }], ownWays)).toEqual([`a.ts:1: ${text}`])
    })
  })
})

describe('target kinds', () => {
  const kinds = Object.keys(targetKinds).join('|')
  const words = Object.values(targetKinds)
    .flatMap(({ syntax }) => (syntax ? [syntax.print(null)] : []))
    .filter((word) => word !== '')
    .join('|')

  const comparisons = [
    // Match comparisons with a target kind or a target's text.
    new RegExp(`[!=]==? ['"\`](${kinds}|${words})['"\`:]`),
    new RegExp(`['"\`](${kinds}|${words})['"\`] [!=]==? `),
    /\b[tT]arget(\.value)?\??\.kind [!=]==/,
    new RegExp(`\\bcase ['"\`](${kinds}|${words})['"\`]`),
    // Match code that parses a target's text.
    new RegExp(`(startsWith|split|includes|match|slice)\\(['"\`](${kinds}|${words})`),
    new RegExp(`\\/\\^?\\(?(${words}):`),
  ]

  /** Patterns for code in which the names of target kinds have another meaning. */
  const others = [
    // Lab checks of kind `static` examine only the build.
    /\b(check|item)\.kind === 'static'/,
    /case 'static':/,
    // The origin of a figure.
    /evidence === '(emulated|predicted)'/,
    // The origin of a time.
    /clock !== 'predicted'/,
    // A memory space.
    /space === 'local'/,
    // The Compare screen's machine-code view.
    /\bview(?:\.value)? [!=]== 'machine'/,
    // The scope of an ncu rule's speedup.
    /speedupType === 'local'|text === 'global' \|\| text === 'local'/,
  ]

  const places = [
    'src-main/domain/targets/',
    'src-main/domain/session/session-ref.ts',
    'src-main/domain/session/session-summary.ts',
  ]

  describe('the source', () => {
    it('compares kinds only in the target table', () => {
      const files = sourcesIn('src-main', 'src-renderer').filter(
        ({ path }) => !places.some((place) => path.startsWith(place)),
      )
      const found = linesWith(files, comparisons).filter(
        (line) => !others.some((other) => other.test(line)),
      )
      expect(found).toEqual([])
    })
  })

  describe('the rule', () => {
    it.each([
      "if (session.target.kind === 'static') return",
      "const recorded = target.kind !== 'recorded'",
      "request.target === 'local' ? a : b",
      "if (ref.startsWith('recorded:')) return",
      'const [, word] = /^static:(.+)$/.exec(text) ?? []',
      "case 'imported':",
      'if (a.target.kind === b.target.kind) return',
    ])('finds %j', (text) => {
      expect(linesWith([{ path: 'a.ts', text }], comparisons)).toEqual([`a.ts:1: ${text}`])
    })
  })
})

describe('the task', () => {
  const root = join(import.meta.dirname, '../..')

  /** Folders to check. They exclude the kernels and shipped data of individual tasks. */
  const places = [
    'src-main',
    'src-renderer',
    'cuda-kernels/include',
    'cuda-kernels/runner',
    'cuda-kernels/probe',
  ]

  /** Patterns for words that are allowed only in the folder of the matrix-product task. */
  const words: readonly [string, RegExp][] = [
    ['one of its sizes', /\.[mnk]\b(?!\s*\()|[{,(]\s*[mk]\s*[:,})=]|\bm, n(?:,| and) k\b|\{[mk]\}/],
    ['one of its scalars', /\b(?:alpha|beta)\b/i],
    ['its epilogue', /\b(?:epilogue|relu|gelu)\b|["'`.]bias\b/i],
    ['its types', /["'`](?:f16|bf16)["'`]/],
    ['its name', /\bgemm\b|\bKlGemm\b/i],
    ['the library it is measured against', /cublas/i],
  ]

  /** Files that may use a word of the matrix-product task, with the reason. */
  const allowed: readonly [RegExp, RegExp, string][] = [
    [
      /doctor\/doctor\.ts$|contract\/index\.ts$|english\/sessions\.ts$|locales\/[^/]+\/(?:screens|statements)\.json$/,
      /cublas/i,
      'the doctor says whether the library that rungs may be measured against is here',
    ],
    [/runner\/dtype\.hpp$/, /"b?f16"|\.bias\b/, 'types of elements, and the bias of an exponent'],
    [/include\/kl_hopper\.cuh$/, /"b?f16"/, 'element types, as an instruction names them'],
    [/task\/python-reference\.ts$/, /"b?f16"/, 'element types, as numpy names them'],
    [
      /domain\/(?:sass|emulator|emulation)\//,
      /relu|"?b?f16/i,
      'modifiers and types of machine instructions',
    ],
    [
      /probe\/program\.cpp$/,
      /cublas/i,
      'handles that programs make before they launch kernels of their own',
    ],
    [/sessions\/open-session\.ts$/, /'gemm-fp32'/, 'the ladder whose recording is opened first'],
  ]

  const filesBelow = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:ts|vue|json|cu|cuh|cpp|hpp|h)$/.test(entry.name))
      .filter(({ name }) => !isTest(name))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))

  /** Returns the text without comments, with the same line numbers. */
  const withoutComments = (text: string): string =>
    text
      .replaceAll(/\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->/g, (comment) =>
        comment.replaceAll(/[^\n]/g, ''),
      )
      .replaceAll(/^(\s*)\/\/.*$/gm, '$1')

  /** Returns one entry per violation, in the form `file:line: knowledge: source line`. */
  function knowing(file: string, text: string): string[] {
    return withoutComments(text)
      .split('\n')
      .flatMap((line, index) =>
        words.flatMap(([what, pattern]) => {
          const isAllowed = allowed.some(([of, known]) => of.test(file) && known.test(line))
          return pattern.test(line) && !isAllowed
            ? [`${file}:${index + 1}: ${what}: ${line.trim()}`]
            : []
        }),
      )
  }

  describe('the source', () => {
    it('is independent of built-in tasks', () => {
      const files = places.flatMap(filesBelow)
      expect(files.length).toBeGreaterThan(300)
      const found = files.flatMap((file) => knowing(file, readFileSync(join(root, file), 'utf8')))
      expect(found).toEqual([])
    })

    it('uses every listed exception', () => {
      const lines = places.flatMap(filesBelow).flatMap((file) =>
        withoutComments(readFileSync(join(root, file), 'utf8'))
          .split('\n')
          .map((line) => ({ file, line })),
      )
      for (const [of, known, why] of allowed)
        expect(
          lines.some(({ file, line }) => of.test(file) && known.test(line)),
          why,
        ).toBe(true)
    })
  })

  describe('the rule', () => {
    it.each([
      'const volume = problem.m * problem.n * problem.k',
      'const { m, n, k } = session.problem',
      'return { m: 1, n: 1, k: 1 }',
      'if (a.beta === 0) return',
      "if (rung.epilogue?.includes('bias')) return",
      "const elementBytes = { 'bf16': 2 }",
      'const file = `gemm/${rung}.cu`',
      '"problemTip": "m = {m}"',
      '--alpha',
    ])('finds %s', (line) => expect(knowing('src-main/a.ts', line).length).toBeGreaterThan(0))

    it.each([
      'const key = item.name',
      't(`a`, { n: 2 })',
      'const ms = 1',
      '// m, n and k',
      'a.match(b)',
    ])('accepts %s', (line) => expect(knowing('src-main/a.ts', line)).toEqual([]))
  })
})

describe('styles', () => {
  const styledForAll = ({ text }: SourceFile): string[] =>
    [...text.matchAll(/^<style>\n([^]*?)^<\/style>/gm)].flatMap(([, css]) =>
      [...css!.matchAll(/^\.([\w-]+)/gm)].map(([, name]) => name!),
    )
  const namesOn = ({ text }: SourceFile): string[] =>
    [...text.matchAll(/\bclass="([^"]+)"/g)].flatMap(([, names]) => names!.split(/\s+/))

  /**
   * Returns class names that one component styles globally and another component uses. Global
   * styles apply to every screen after they are loaded.
   */
  const takenTwice = (files: readonly SourceFile[]): string[] =>
    files.flatMap((styling) =>
      [...new Set(styledForAll(styling))].flatMap((name) =>
        files
          .filter(({ path }) => dirname(path) !== dirname(styling.path))
          .filter((other) => namesOn(other).includes(name))
          .map(({ path }) => `${styling.path} styles "${name}" of ${path}`),
      ),
    )

  it('that are global select only elements of their own component', () => {
    const components = sourcesIn('src-renderer').filter(({ path }) => path.endsWith('.vue'))
    expect(components.flatMap(styledForAll)).toContain('help-sheet')
    expect(takenTwice(components)).toEqual([])
  })

  it('that are global are distinguished from scoped styles', () => {
    const user = { path: 'labs/Help.vue', text: '<div class="help narrow" />' }
    const style = (kind: string) => `<style${kind}>\n.help {\n  top: 8vh;\n}\n</style>\n`
    const sheet = (kind: string) => ({ path: 'palette/Sheet.vue', text: style(kind) })
    expect(takenTwice([user, sheet('')])).toEqual([
      'palette/Sheet.vue styles "help" of labs/Help.vue',
    ])
    expect(takenTwice([user, sheet(' scoped')])).toEqual([])
  })
})
