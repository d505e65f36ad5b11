/**
 * Tests that no logic depends on message text. Code identifies messages by key, and converts them
 * to text only for output.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isTest } from './imports'

const root = join(import.meta.dirname, '../..')

const said = '(?:reason|remedy|sentence|explanation|warnings?|statement|detail|headline)'
/** Patterns for code that compares or searches message text. */
const steered = [
  new RegExp(`(?<!typeof )\\b${said}\\b\\)?\\s*[!=]==\\s*['"\`]`),
  new RegExp(`['"\`]\\s*[!=]==\\s*[\\w.?]*\\b${said}\\b`),
  new RegExp(`\\b${said}\\)?!?\\??\\.(?:startsWith|endsWith|includes|indexOf|match|search)\\(`),
  new RegExp(`/\\w*\\.(?:test|exec)\\([^)]*\\b${said}\\b`),
  /inEnglish\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:[!=]==\s*['"`]|\.(?:startsWith|endsWith|includes|match)\()/,
]

/** Matches errors whose message or remedy is English text in the source. */
const spoken =
  /\b(?:(?:inputError|missingError)\(|KernelLadderError\(\s*'\w+',)\s*(?:[`'"]|message\((?:[^()]|\([^()]*\))*\),\s*[`'"])[^\n]*/g

/** Files in which English error text is correct, with the reason. */
const elsewhere: readonly [RegExp, string][] = [
  [/parsers\/(?:kernels|labs)\/|adapters\/catalog\//, 'faults in files of authors, by place'],
  [/hosts\/(?!electron\/|web\/upload)/, 'the command line, and what keeps a host from starting'],
  [
    /report\/save\.ts|group-launches\.ts|labs\/grade\.ts|init\.ts|folders\/from-file\//,
    'the command line alone asks for it',
  ],
  [
    /services\/(?:regress|tune(?!\/apply))\/|catalog\/git\.ts|sessions\/history\.ts/,
    'the command line alone asks for it',
  ],
  [/adapters\/remote\//, 'what ssh and another machine say'],
  [/report\/index\.ts/, 'an option of the command line'],
  [/adapters\/labs\/(?:workspace|submissions)\.ts/, 'files that the command line names'],
  [/contract\/index\.ts/, 'a message that no client of ours sends'],
  [
    /tools\/(?:raw-files|process)\.ts|draft-store\.ts|nvidia-smi\.ts/,
    'names that only a fault of ours makes',
  ],
]

const faultsOf = (text: string): string[] =>
  text.split('\n').filter((line) => steered.some((pattern) => pattern.test(line)))

describe('the source', () => {
  const files = ['src-main', 'src-renderer']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter((file) => /\.(?:ts|vue)$/.test(file) && !isTest(file))

  it('does not compare message text', () => {
    expect(files.length).toBeGreaterThan(300)
    const found = files.flatMap((file) =>
      faultsOf(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
    )
    expect(found).toEqual([])
  })

  it('uses messages for errors that the UI may show', () => {
    const found = files
      .filter((file) => !elsewhere.some(([of]) => of.test(file)))
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(spoken)].map(
          ([words]) => `${file}: ${words.replace(/\s+/g, ' ')}`,
        ),
      )
    expect(found).toEqual([])
    for (const [of, why] of elsewhere)
      expect(
        files.some((file) => of.test(file) && readFileSync(join(root, file), 'utf8').match(spoken)),
        `${of}: ${why}`,
      ).toBe(true)
  })
})

describe('the rule', () => {
  it.each([
    `own.reason?.startsWith('Hung')`,
    `built.reason !== 'cancelled'`,
    `if ('cancelled' === built.reason)`,
    `/^Hung/.test(rung.reason)`,
    `inEnglish(rung.reason ?? '').includes('ncu')`,
    `inEnglish(why) === 'The run failed.'`,
    `session.warnings.includes('x')`,
  ])('rejects %s', (line) => {
    expect(faultsOf(line)).toEqual([line])
  })

  it.each([
    `says(own.reason, 'records.hung')`,
    `reason === undefined ? {} : { reason }`,
    `inEnglish(rung.reason ?? '')`,
    `const rate = kind === 'reason'`,
  ])('accepts %s', (line) => {
    expect(faultsOf(line)).toEqual([])
  })
})
