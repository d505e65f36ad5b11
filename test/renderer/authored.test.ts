/** Tests that the authors' texts in built-in ladders and labs exist in every language. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { readCatalog } from '../../src-main/adapters/catalog/catalog'
import { readShippedLabs } from '../../src-main/adapters/labs/lab-folders'
import type { LabView } from '../../src-main/contract/labs'
import type { Ladder } from '../../src-main/domain/ladder/ladder'
import { parseLadderDocument } from '../../src-main/parsers/kernels/ladder-document'
import { parseRungHeader } from '../../src-main/parsers/kernels/rung-header'
import type { RungResult, Session } from '../../src-main/domain/session/session'
import {
  hashOf,
  isBehind,
  learn,
  own,
  translationsIn,
  type Translations,
} from '../../src-renderer/ui/authored'
import koLabs from '../../src-renderer/locales/ko/labs.yaml'
import koLadders from '../../src-renderer/locales/ko/ladders.yaml'
import zhLabs from '../../src-renderer/locales/zh-CN/labs.yaml'
import zhLadders from '../../src-renderer/locales/zh-CN/ladders.yaml'
import {
  ideaPlace,
  labInLanguage,
  labPlace,
  notePlace,
  sectionsOf,
  sessionInLanguage,
} from '../../src-renderer/stores/in-language'

const root = join(import.meta.dirname, '..', '..')
const catalog = await readCatalog(join(root, 'cuda-kernels'))
const labs = (await readShippedLabs(catalog)).labs

interface Authored {
  /** The location of the text, such as a file or session. */
  at: string
  text: string
}

/** Keys whose strings are authors' texts. */
const keys = new Set(['title', 'summary', 'idea', 'note', 'conclusion', 'result'])
const textsIn = (value: unknown, at: string, isText = false): Authored[] => {
  if (typeof value === 'string') return isText ? [{ at, text: value }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    textsIn(one, `${at}/${Array.isArray(value) ? (one?.id ?? key) : key}`, keys.has(key)),
  )
}

const rows = <Row>(file: string): Row[] =>
  readFileSync(join(root, 'resources/recordings', file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)

type Recorded = { session: string; ladder: Ladder; rungs: RungResult[]; program?: object }
const recorded = [
  ...rows<Recorded>('sessions.jsonl'),
  ...rows<Recorded>('labs/sessions.jsonl'),
  // Exclude sessions of programs, because they contain only kernel names, which are not translated.
]
  .filter(({ program }) => !program)
  .flatMap(({ session, ladder, rungs }) => [
    ...textsIn(ladder, session),
    ...rungs.flatMap(({ id, title, idea }) => textsIn({ title, idea }, `${session}/${id}`)),
  ])

const templatesDir = join(root, 'resources/templates')
const templates = readdirSync(templatesDir).flatMap((name): Authored[] => {
  const read = (file: string) => readFileSync(join(templatesDir, name, file), 'utf8')
  const { ladder, task } = parseLadderDocument(read('ladder.yaml'), name)
  // The GEMM template consists of built-in rungs.
  const rungs = readdirSync(join(templatesDir, name)).filter((file) => /^\d.*\.cu$/.test(file))
  return textsIn([ladder, task, rungs.map((file) => parseRungHeader(read(file), file, task))], name)
})

const ladderTexts = [
  ...textsIn(
    [...catalog.rungs.values()].map(({ header }) => header),
    'rungs',
  ),
  ...textsIn(catalog.ladders, 'ladders'),
  ...textsIn([...catalog.tasks.values()], 'tasks'),
  // Include the capitalized result of a task, because it may also start a sentence.
  ...[...catalog.tasks.values()].flatMap(({ id, result }) =>
    result === undefined
      ? []
      : [{ at: `tasks/${id}/result`, text: result[0]!.toUpperCase() + result.slice(1) }],
  ),
  ...templates,
  ...labs.flatMap(({ lab: { id, title, summary } }) => textsIn({ title, summary }, `labs/${id}`)),
  ...recorded,
]

const picture = /(?<=>)[^<>]+(?=<\/)/g
/** Returns whether a picture's label contains words, not only a name or a number. */
const isWorded = (label: string): boolean =>
  /[a-z]{2}/i.test(label) && !/^(SM \d|d = \d)$/.test(label)

const labTexts = labs.flatMap(({ lab, pictures }): Authored[] => {
  const one = (name: string, text: string | undefined): Authored[] =>
    text ? [{ at: `${lab.id}/${name}`, text }] : []
  return [
    ...sectionsOf(lab.body).map((text, n) => ({ at: `${lab.id}/section-${n + 1}`, text })),
    ...lab.checks.flatMap(({ id, title }) => one(`${id}/title`, title)),
    ...lab.predictions.flatMap(({ id, ask }) => one(`${id}/ask`, ask)),
    ...lab.questions.flatMap(({ id, ask, unit, explain }) => [
      ...one(`${id}/ask`, ask),
      ...one(`${id}/unit`, unit),
      ...one(`${id}/explain`, explain),
    ]),
    ...lab.hints.map((text, n) => ({ at: `${lab.id}/hint-${n + 1}`, text })),
    ...one('surprise', lab.surprise),
    ...one('source', lab.source?.title),
    ...[...pictures].flatMap(([path, bytes]) =>
      [...new TextDecoder().decode(bytes).matchAll(picture)]
        .filter(([label]) => isWorded(label))
        .flatMap(([label]) => one(path, label)),
    ),
  ]
})

const english = [...ladderTexts, ...labTexts]
const known = new Set(english.map(({ text }) => hashOf(text)))

/**
 * Returns the parts of a text that are equal in every language: formulas without their words, code
 * names, and pictures.
 */
const fixedParts = (text: string): string[] =>
  [...text.matchAll(/\$\$?[^$]+\$\$?|`[^`]+`|\]\([^)]+\)|^```[^]+?^```/gm)]
    .map(([part]) => part.replaceAll(/\\text\{[^}]*\}/g, '').replaceAll(/[^\x20-\x7e]|\s/g, ''))
    // Sort the factors of a formula, because their order depends on the language if they contain
    // words.
    .map((part) => (part.startsWith('$$') ? [...part].sort().join('') : part))
    .sort()

const sets: [string, Translations, Translations][] = [
  ['Korean', koLadders, koLabs],
  ['Chinese', zhLadders, zhLabs],
]

describe.each(sets)("the authors' texts in %s", (_language, ladders, labWords) => {
  const all = [ladders, labWords].flatMap((words) => translationsIn(words))
  const byHash = new Map(all.flatMap(({ hashes, text }) => hashes.map((hash) => [hash, text])))

  it('include translations of all current English texts and all texts in the recordings', () => {
    const missing = english.filter(({ text }) => !byHash.has(hashOf(text)))
    expect(missing.map(({ at, text }) => `${at} (${hashOf(text)}): ${text}`)).toEqual([])
  })

  it('contain no translation of a removed English text', () => {
    const stale = all.filter(({ hashes }) => hashes.some((hash) => !known.has(hash)))
    expect(stale.map(({ at }) => at)).toEqual([])
    expect(all.filter(({ hashes, text }) => hashes.length === 0 || text === '')).toEqual([])
  })

  it('preserve formulas, code names, and pictures', () => {
    const changed = labTexts.flatMap(({ at, text }) => {
      const [wanted, found] = [fixedParts(text), fixedParts(byHash.get(hashOf(text)) ?? '')]
      return wanted.join() === found.join() ? [] : [{ at, wanted, found }]
    })
    expect(changed).toEqual([])
  })
})

describe("an author's text", () => {
  afterEach(() => {
    learn('ladders', null)
    learn('labs', null)
  })

  it('is identified by its hash, regardless of its line breaks', () => {
    expect(hashOf(' one\n  text ')).toBe(hashOf('one text'))
    expect(known.size).toBe(
      new Set(english.map(({ text }) => text.trim().replaceAll(/\s+/g, ' '))).size,
    )
  })

  it('is shown in the selected language, or in English with a mark if no version was translated', () => {
    const [now, before, later] = ['one tile', 'a single tile', 'two tiles']
    learn('ladders', {
      rungs: { a: { [`idea ${hashOf(now)} ${hashOf(before)}`]: '타일 하나' } },
    })
    expect([now, before, later].map(own)).toEqual(['타일 하나', '타일 하나', later])
    expect([now, '타일 하나', later].map((text) => isBehind('rungs/a/idea', text))).toEqual([
      false,
      false,
      true,
    ])
    // Untranslated text does not count as outdated.
    expect(isBehind('rungs/b/idea', later)).toBe(false)
  })

  it('is marked as outdated for a built-in ladder, but not for a ladder folder', () => {
    learn('ladders', koLadders)
    const ladder = {
      ...rows<Recorded>('sessions.jsonl').find(({ session }) => session === 'gemm-fp32-h200-4096')!
        .ladder,
    }
    const session = { ladder, rungs: [] as RungResult[] } as Session
    expect(isBehind(ideaPlace(session, '08_half_block'), 'changed')).toBe(true)
    expect(isBehind(notePlace(session, '08_half_block'), 'changed')).toBe(true)
    const folder = { ...session, ladder: { ...ladder, folder: '/home/ada/own' } }
    expect(isBehind(ideaPlace(folder, '08_half_block'), 'changed')).toBe(false)
    expect(sessionInLanguage(session).ladder.title).toBe('FP32 행렬 곱')
    const task = catalog.tasks.get('gemm')!
    expect(sessionInLanguage({ ...session, ladder: { ...ladder, task } }).ladder.task?.result).toBe(
      '곱',
    )
  })

  it('is translated section by section in a lab, including the pictures', () => {
    learn('labs', koLabs)
    const { lab } = labs[0]!
    const svg = '<svg><text>one float4</text><text>A</text></svg>'
    const view = {
      id: lab.id,
      folder: null,
      body: `${lab.body}\n\n## 9. New\n\nAdded since.`,
      hints: { total: 1, shown: [lab.hints[0]!] },
      starter: 'blocks',
      pictures: { 'a.svg': `data:image/svg+xml;base64,${btoa(svg)}`, 'b.png': 'data:image/png;,' },
    } as unknown as LabView
    const shown = labInLanguage(view)
    const sections = sectionsOf(shown.body)
    expect(sections).toHaveLength(6)
    expect(sections[0]).toMatch(/워프가 요청하는 것/)
    expect(sections[5]).toMatch(/Added since/)
    expect(shown.hints.shown[0]).toMatch(/[가-힣]/)
    // A lab's code is not translated.
    expect(shown.starter).toBe('blocks')
    expect(decodeURIComponent(shown.pictures['a.svg']!)).toContain('<text>float4 하나</text>')
    expect(shown.pictures['b.png']).toBe(view.pictures['b.png'])
    expect(isBehind(labPlace(view, 'hint-1'), 'another hint')).toBe(true)
    expect(isBehind(labPlace({ ...view, folder: '/elsewhere' }, 'hint-1'), 'another')).toBe(false)
  })
})
