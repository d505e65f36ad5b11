/** Tests that documents agree with the code and with each other. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  laddersPart,
  publishedFigures,
  publishedPart,
  recordedLadders,
} from '../../scripts/lib/recorded-ladders'
import {
  isFaster,
  libraryTimesParts,
  readLibraryTimes,
  timedGpus,
} from '../../scripts/lib/library-times'
import { countersPath, countersSummary, emulationPath } from '../../scripts/lib/emulation-table'
import { documentWith } from '../../scripts/lib/document.mjs'
import { root } from '../services/support'
import {
  causeKey,
  causesParts,
  causesPath,
  readJudged,
  recordedSteps,
  stepKey,
} from '../../scripts/lib/judged-causes'

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

it('README.md and docs/evidence/results.md contain the library comparison from `npm run readme -- figures`', async () => {
  const parts = libraryTimesParts(root)
  expect(parts.map(([path]) => path)).toEqual(['README.md', 'docs/evidence/results.md'])
  for (const [path, part] of parts)
    expect(textOf(path)).toBe(await documentWith(path, [['library-times', part]]))
})

it('a rung is called faster only if all sessions and all timing methods agree', () => {
  const times = timedGpus.flatMap((gpu) => readLibraryTimes(root, gpu))
  expect(times.length).toBeGreaterThan(20)
  for (const one of times) {
    const ratios = [...one.cold, one.burst!, one.sustained!]
    expect(isFaster(one)).toBe(Math.min(...ratios) > 1)
    expect(isFaster({ ...one, sustained: null })).toBeNull()
    expect(isFaster({ ...one, sustained: 0.99 })).toBe(false)
  }
})

it('docs/evidence/results.md has the best rung of each recording, and the published results of other projects', async () => {
  const recorded = await recordedLadders(join(root, 'resources/recordings'))
  const published = publishedPart(recorded, publishedFigures(root))
  expect(published).toMatch(/G80.*`07_grid_stride`.* 62\.7 GB\/s /)
  const parts = [
    ['ladders', laddersPart(recorded)],
    ['published', published],
  ] as const
  expect(textOf('docs/evidence/results.md')).toBe(
    await documentWith('docs/evidence/results.md', [...parts]),
  )
})

describe('the causes in the docs', async () => {
  const recorded = await recordedSteps(join(root, 'resources/recordings'))
  const judged = readJudged(root)

  it('match the output of `npm run readme -- causes`', async () => {
    for (const [path, part] of causesParts(recorded, judged))
      expect(textOf(path)).toBe(await documentWith(path, [['causes', part]]))
  })

  it('have a factor that matches the two percentages in the same sentence', () => {
    const text = textOf(causesPath)
    const told = [
      ...text.matchAll(
        /busy for (?:only )?([\d.]+) % of the (?:time|active cycles) instead of ([\d.]+) %, ([\d.]+)×/g,
      ),
    ].map(([, b, a, factor]) => [Number(b) / Number(a), Number(factor)] as const)
    expect(told.length).toBeGreaterThan(50)
    for (const [quotient, factor] of told)
      expect(
        Math.abs(Math.log(quotient > 1 ? quotient : 1 / quotient) - Math.log(factor)),
      ).toBeLessThan(0.04)
  })

  it('count only top-ranked causes that a person has checked', () => {
    const told = recorded.flatMap(({ recording, steps }) =>
      steps.flatMap((step) => {
        const cause = causeKey(step)
        return cause === null ? [] : [`${recording}, ${stepKey(step)}: ${cause}`]
      }),
    )
    const known = Object.entries(judged).flatMap(([recording, steps]) =>
      Object.entries(steps).map(([step, { cause }]) => `${recording}, ${step}: ${cause}`),
    )
    expect(told.toSorted()).toEqual(known.toSorted())
  })
})

it('docs/evidence/emulation.md has the totals from docs/evidence/tables/counters.md', async () => {
  const summary = countersSummary(textOf(countersPath))
  expect(summary).toMatch(/gemm-fp32, .* \| 15 \| 105 \| 105 \| none \|/)
  expect(textOf(emulationPath)).toBe(await documentWith(emulationPath, [['counters', summary]]))
})

describe('test/fakes/README.md', () => {
  const folder = join(import.meta.dirname, '../fakes')
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const code = readdirSync(folder)
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')

  const firstCells = (heading: string): string[] =>
    [
      ...readme
        .split(`## ${heading}`)[1]!
        .split('\n## ')[0]!
        .matchAll(/^\| `([^`]+)`/gm),
    ]
      .map(([, cell]) => cell!)
      .sort()

  it('lists exactly the faults in the code', () => {
    const compared = [
      ...code.matchAll(/\bfault(?: ===|:) '([\w-]+)'/g),
      ...code.matchAll(/\(fault\) ?=== '([\w-]+)'/g),
      ...code.matchAll(/\bfault\?\.(?:startsWith|replace)\('([\w-]+):'/g),
    ].map(([, fault]) => fault!)
    const named = firstCells('Faults').map((fault) => fault.replace(/:<.*/, ''))
    expect(named).toEqual([...new Set(compared)].sort())
  })

  it('lists exactly the variables in the code', () => {
    const read = new Set([...code.matchAll(/\bFAKE_[A-Z_]+/g)].map(([name]) => `$${name}`))
    expect(firstCells('Variables')).toEqual([...read].sort())
  })
})

describe('file names and links', () => {
  const root = join(import.meta.dirname, '../..')
  const folders = [
    'cuda-kernels',
    'docs',
    'resources',
    'scripts',
    'src-main',
    'src-renderer',
    'test',
  ]

  /**
   * All files and folders of the repository as relative paths with `/`. A folder's path ends with
   * `/`.
   */
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
  /**
   * All suffixes of the repository's paths. For example, `a/b/c.ts` has the suffixes `b/c.ts` and
   * `c.ts`.
   */
  const endings = new Set(
    paths.flatMap((path) => {
      const parts = path.replace(/\/$/, '').split('/')
      return parts.map((_, index) => parts.slice(index).join('/') + (path.endsWith('/') ? '/' : ''))
    }),
  )

  /** Matches text that looks like a source file or like a path in a source folder. */
  const named =
    /(?<![\w./:<>…*{}$-])(?:(?:\.\.?\/)*(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|vue|mjs|cuh|hpp|cpp|md|sh)|(?:src-main|src-renderer|cuda-kernels|resources|scripts|test|docs)\/(?:[\w.-]+\/)*[\w.-]*\w\/?)(?![\w/<>…*{}$-]|\.\w)/g

  /** Matches relative module paths, as in an import: `./mix-metrics`. */
  const near = /(?<![\w./:<>…*{}$-])\.\.?(?:\/(?:\.\.|[\w-]+))+(?![\w/<>…*{}$-]|\.\w)/g
  const modules = ['', '/', '.ts', '.vue', '.mjs', '.json', '.css', '.cuh', '.h']

  const read = (path: string): string => readFileSync(join(root, path), 'utf8')

  /** Matches build outputs and placeholder names, which are not checked. */
  const passedOver = /^(?:\.\/)?(?:dist|out|node_modules|path)\/|^report\.md$/

  const captured = JSON.parse(read('test/captures/calls.json')) as Record<string, object>
  const isCapturedCall = (path: string): boolean => {
    const [, tool, call] = /^test\/captures\/(.+)\/([^/]+)$/.exec(path) ?? []
    return tool !== undefined && Object.hasOwn(captured[tool] ?? {}, call!)
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

  /** Returns the comments of a source file, without strings and code. */
  const commentsOf = (text: string): string =>
    [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<![:'"`\w/])\/\/(?!\/)[^\n]*|<!--[\s\S]*?-->/g)]
      .map(([comment]) => comment)
      .join('\n')

  const kept = paths.filter(
    (path) => !/^(?:test\/captures|resources\/recordings\/labs)\//.test(path),
  )
  const documents = kept.filter((path) => path.endsWith('.md'))
  const sources = kept.filter(
    (path) => /\.(?:ts|vue|mjs|cu|cuh|hpp|cpp|h)$/.test(path) && path !== 'test/docs/docs.test.ts',
  )

  /** Returns the anchor that GitHub creates for a heading. */
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')

  /**
   * Returns the anchors of headings and of marks in generated tables. The anchor of a second
   * heading with the same text ends in `-1`.
   */
  function anchorsOf(text: string): string[] {
    const times = new Map<string, number>()
    const ofHeadings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => {
      const anchor = anchorOf(heading!)
      const before = times.get(anchor) ?? 0
      times.set(anchor, before + 1)
      return before === 0 ? anchor : `${anchor}-${before}`
    })
    return [...ofHeadings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!)]
  }

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
            return anchorsOf(read(to)).includes(anchor) ? [] : [`${from}: ${target}`]
          },
        ),
      )
      expect(faults).toEqual([])
    })

    it('mention only files that exist', () => {
      const faults = documents.flatMap((from) => {
        const prose = read(from).replaceAll(fences, '')
        return faultsIn(
          [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code).join('\n'),
          from,
        )
      })
      expect(faults).toEqual([])
    })
  })

  it('comments mention only files that exist', () => {
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
      '// see services/app/core.ts and docs/guides/labs.md',
      "import a from './none.ts'",
      '// https://example.com/docs/none.md',
      '// test/captures/task/<task>',
      '// `<name>.ts`',
    ])('accepts %s', (text) => {
      expect(faultsIn(commentsOf(text), 'src-main/hosts/a.ts')).toEqual([])
    })
  })
})
