/**
 * Tests that the commands in the documents exist. Each command is parsed with the program's command
 * definitions but not run.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { Command } from 'commander'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { examples } from '../../src-main/hosts/cli/examples'
import { runIn } from '../hosts/cli/support'
import { root } from '../services/support'

const documents = execFileSync('git', ['-C', root, 'ls-files', '-co', '--exclude-standard', '*.md'])
  .toString()
  .split('\n')
  .filter((path) => path !== '' && !/^(?:test\/captures|resources\/recordings\/labs)\//.test(path))

const fences = /^```[^\n]*\n([\s\S]*?)^```/gm

/** Matches the text after the program's name, in each form that the documents use. */
const command =
  /^\s*(?:\$ )?(?:npm run -s kernel-ladder --|npx kernel-ladder|node \S*kernel-ladder\.mjs|kernel-ladder)((?: .*)?)$/

/** Returns the words of a shell line without comments and redirections. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)]
    .map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
    .reduce<{ words: string[]; ended: boolean }>(
      ({ words, ended }, word) =>
        ended || ['#', '>', '>>', '|', '&&', ';'].includes(word)
          ? { words, ended: true }
          : { words: [...words, word], ended },
      { words: [], ended: false },
    ).words

/**
 * Returns the command line with all optional parts, so `[--json | --markdown]` becomes both
 * options.
 */
const allOf = (line: string): string =>
  / \[.*\]/.test(line) ? line.replaceAll(/ \| /g, ' ').replaceAll(/[[\]]/g, '') : line

/**
 * Matches a command with an option but without the program's name, such as `run --watch` in a
 * sentence.
 */
const commandNames = new RegExp(
  `^(?:${[...new Set(Object.keys(examples).map((name) => name.split(' ')[0]))].join('|')}) .*--[a-z]`,
)

interface Written {
  from: string
  line: string
  words: string[]
  /** Whether the command is in a sentence, where arguments may be omitted. */
  isMention: boolean
}

function commandsIn(from: string): Written[] {
  const text = readFileSync(join(root, from), 'utf8')
  const lines = [...text.matchAll(fences)].flatMap(([, code = '']) =>
    code.replaceAll(/\\\n\s*/g, '').split('\n'),
  )
  const mentions = [...text.replaceAll(fences, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code]) => code!,
  )
  const found = (line: string, isMention: boolean): Written[] => {
    const named = isMention && commandNames.test(line) ? `kernel-ladder ${line}` : line
    const rest = command.exec(named)?.[1]
    // The character `…` means that the rest of the command is omitted.
    if (rest === undefined || (isMention && rest.includes('…'))) return []
    return [{ from, line: line.trim(), words: wordsOf(allOf(rest)), isMention }]
  }
  return [
    ...lines.flatMap((line) => found(line, false)),
    ...mentions.flatMap((line) => found(line, true)),
  ]
}

const action = Command.prototype.action
let isParsed = false
const replaced = vi.spyOn(Command.prototype, 'action').mockImplementation(function (this: Command) {
  return action.call(this, () => {
    isParsed = true
  })
})
afterAll(() => replaced.mockRestore())

async function faultOf({
  words,
  isMention,
}: Pick<Written, 'words' | 'isMention'>): Promise<string> {
  if (words.length === 0 || words[0] === 'help') return ''
  isParsed = false
  const { code, stderr } = await runIn({}, ...words)
  if (isParsed || (code === 0 && words.includes('--help'))) return ''
  if (isMention && /missing required argument|required option|argument missing/.test(stderr))
    return ''
  return stderr === '' ? 'is not a command' : stderr.split('\n')[0]!
}

describe('commands in documents', () => {
  const written = documents.flatMap(commandsIn)

  it('are found in more than 15 files', () => {
    expect(written.length).toBeGreaterThan(150)
    expect(new Set(written.map(({ from }) => from)).size).toBeGreaterThan(15)
  })

  it('exist, including their arguments and options', async () => {
    const faults: string[] = []
    for (const one of written) {
      const fault = await faultOf(one)
      if (fault !== '') faults.push(`${one.from}: ${one.line}: ${fault}`)
    }
    expect(faults).toEqual([])
  })

  it.each([
    [['show', 'a', '--rnug', 'b'], 'unknown option'],
    [['show', 'a', 'b', 'c'], 'too many arguments'],
    [['lab', 'strat', '01-coalescing'], 'unknown command'],
    [['run'], 'required option'],
  ])('are reported if the program rejects them: %j', async (words, fault) => {
    expect(await faultOf({ words, isMention: false })).toContain(fault)
  })

  it('that call npm scripts use script names from package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const named = documents.flatMap((from) =>
      [...readFileSync(join(root, from), 'utf8').matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(
        ([, name]) => name!,
      ),
    )
    expect(named.length).toBeGreaterThan(50)
    expect([...new Set(named)].filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
  })
})
