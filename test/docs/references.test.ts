/** Files that documents and comments name exist; so do the headings that a link goes to. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const folders = ['cuda-kernels', 'docs', 'resources', 'scripts', 'src-main', 'src-renderer', 'test']

/** Everything that is kept, from the root, with `/`; folders end with one. */
const paths = [
  ...readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name),
  ...folders.flatMap((folder) => [
    `${folder}/`,
    ...readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/')
      return entry.isDirectory() ? `${path}/` : path
    }),
  ]),
]
const known = new Set(paths)
/** `b/c.ts` of `a/b/c.ts`, and `c.ts`. */
const endings = new Set(
  paths.flatMap((path) => {
    const parts = path.replace(/\/$/, '').split('/')
    return parts.map((_, index) => parts.slice(index).join('/') + (path.endsWith('/') ? '/' : ''))
  }),
)

/** What looks like a file of the source, or like a path from one of its folders. */
const named =
  /(?<![\w./:<>…*{}$-])(?:(?:\.\.?\/)*(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|vue|mjs|cuh|hpp|cpp|md|sh)|(?:src-main|src-renderer|cuda-kernels|resources|scripts|test|docs)\/(?:[\w.-]+\/)*[\w.-]*\w\/?)(?![\w/<>…*{}$-]|\.\w)/g

/** A module of the same folder or one near it, as an import has it: `./mix-metrics`. */
const near = /(?<![\w./:<>…*{}$-])\.\.?(?:\/(?:\.\.|[\w-]+))+(?![\w/<>…*{}$-]|\.\w)/g
const modules = ['', '/', '.ts', '.vue', '.mjs', '.json', '.css', '.cuh', '.h']

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** What a build makes, and names that stand for whatever a reader calls a file. */
const passedOver = /^(?:dist|out|node_modules|path)\/|^report\.md$/

const isCapturedCall = (path: string): boolean => {
  const calls = posix.join(dirname(path), 'calls.json')
  return (
    path.startsWith('test/captures/') &&
    known.has(calls) &&
    Object.hasOwn(JSON.parse(read(calls)) as object, posix.basename(path))
  )
}

const exists = (name: string, from: string): boolean => {
  const path = name.replace(/\/$/, '')
  if (passedOver.test(path) || endings.has(path) || endings.has(`${path}/`)) return true
  const beside = posix.join(dirname(from), path)
  return modules.some((ending) => known.has(beside + ending)) || isCapturedCall(path)
}

const faultsIn = (text: string, from: string): string[] =>
  [...text.matchAll(named), ...text.matchAll(near)]
    .map(([name]) => name)
    .filter((name) => !exists(name, from))
    .map((name) => `${from}: ${name}`)

/** Comments of a source, with the strings and the code between them left out. */
const commentsOf = (text: string): string =>
  [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<![:'"`\w/])\/\/(?!\/)[^\n]*|<!--[\s\S]*?-->/g)]
    .map(([comment]) => comment)
    .join('\n')

const kept = paths.filter((path) => !/^(?:test\/captures|resources\/recordings\/labs)\//.test(path))
const documents = kept.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md')
const sources = kept.filter(
  (path) =>
    /\.(?:ts|vue|mjs|cu|cuh|hpp|cpp|h)$/.test(path) && path !== 'test/docs/references.test.ts',
)

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const fences = /^```[\s\S]*?^```/gm
const withoutCode = (text: string): string =>
  text.replaceAll(fences, '').replaceAll(/(?<!\[)`[^`\n]+`(?!\])/g, '')

describe('documents', () => {
  it('link to files and headings that exist', () => {
    const faults = documents.flatMap((from) =>
      [...withoutCode(read(from)).matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].flatMap(
        ([, target = '']) => {
          const [file = '', anchor] = target.split('#')
          const to = file === '' ? from : posix.join(dirname(from), file)
          if (!known.has(to) && !known.has(`${to}/`)) return [`${from}: ${target}`]
          if (anchor === undefined) return []
          const headings = [...read(to).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
            anchorOf(heading!),
          )
          return headings.includes(anchor) ? [] : [`${from}: ${target}`]
        },
      ),
    )
    expect(faults).toEqual([])
  })

  it('name files that exist', () => {
    const faults = documents.flatMap((from) => {
      const prose = read(from).replaceAll(fences, '')
      return faultsIn([...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code).join('\n'), from)
    })
    expect(faults).toEqual([])
  })
})

it('comments name files that exist', () => {
  expect(sources.length).toBeGreaterThan(500)
  expect(sources.flatMap((from) => faultsIn(commentsOf(read(from)), from))).toEqual([])
})

describe('the rule', () => {
  it.each([
    '// see lab-outcome.ts',
    '/** as docs/NOTHING.md says */',
    '// test/captures/none keeps it',
    '/* ../domain/none.ts */',
  ])('finds %s', (text) => {
    expect(faultsIn(commentsOf(text), 'src-main/hosts/a.ts')).toHaveLength(1)
  })

  it.each([
    '// see services/core.ts and docs/LABS.md',
    "import a from './none.ts'",
    '// https://example.com/docs/none.md',
    '// test/captures/task/<task>',
    '// `<name>.ts`',
  ])('lets %s be', (text) => {
    expect(faultsIn(commentsOf(text), 'src-main/hosts/a.ts')).toEqual([])
  })
})
