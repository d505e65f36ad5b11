/**
 * Tests completion, the man page, the first screen, and the help examples. These texts are derived
 * from the command definitions.
 */
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { examples } from '../../../src-main/hosts/cli/examples'
import { run } from '../../cli/support'
import { root, tempDir } from '../../services/support'

const offered = async (...words: string[]): Promise<string[]> => {
  const { stdout } = await run(['__complete', 'zsh', '--', 'kernel-ladder', ...words])
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0]!)
}

describe('completion', () => {
  it.each([
    [['re'], ['report', 'regress']],
    [['lab', 'st'], ['start']],
    [['run', '--ladder', 'gemm-fp3'], ['gemm-fp32']],
    [['run', '--ladder=gemm-fp3'], ['--ladder=gemm-fp32']],
    [['run', '--ladder', 'gemm-fp32', '--rungs', '01_naive,02'], ['01_naive,02_coalesced']],
    [['show', 'recorded:gemm-fp32-h200-81'], ['recorded:gemm-fp32-h200-8192']],
    [['diff', 'recorded', '06'], ['06_float4']],
    [['show', 'recorded', '--rung', '06'], ['06_float4']],
    [['run', '--target', 'static:h2'], ['static:h200']],
    [['run', '--target', 'recorded:gemm-fp32-h200-81'], ['recorded:gemm-fp32-h200-8192']],
    [['run', '--profile', 'd'], ['deep']],
    [['run', '--watc'], ['--watch']],
    [['report', '--format', 'h'], ['html']],
    [['init', '--template', 'soft'], ['softmax']],
    [['lab', 'check', '07'], ['07-bank-conflicts']],
    [['completion', 'f'], ['fish']],
    // The shell itself completes file names.
    [['import', ''], []],
    [['lab', 'check', '07-bank-conflicts', '--file', ''], []],
    // For an unknown name, the program offers no completions and prints no error.
    [['show', 'no-such-session', '--rung', ''], []],
    [['nonsense', ''], []],
  ])('of %j is %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected)
  })

  it('offers no hidden command', async () => {
    const words = await offered('')
    expect(words).toContain('ladders')
    expect(words.filter((word) => word.startsWith('_'))).toEqual([])
  })

  it.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    const { code, stdout } = await run(['completion', shell])
    expect(code).toBe(0)
    expect(stdout).toContain(`kernel-ladder __complete ${shell} -- `)
  })

  it('suggests the closest shell name', async () => {
    expect(await run(['completion', 'bahs'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean bash?'),
    })
  })

  /**
   * Returns the command line after bash has completed it. Instead of the program, bash calls a
   * script that prints `candidates`.
   */
  async function inBash(line: readonly string[], candidates: readonly string[]): Promise<string[]> {
    const dir = await tempDir()
    const bin = join(dir, 'bin')
    await mkdir(bin)
    await writeFile(join(dir, 'candidates'), candidates.map((one) => `${one}\n`).join(''))
    await writeFile(
      join(bin, 'kernel-ladder'),
      `#!/bin/sh\nprintf '%s\\n' "$@" > '${dir}/asked'\ncat '${dir}/candidates'\n`,
    )
    await chmod(join(bin, 'kernel-ladder'), 0o755)
    const { stdout: script } = await run(['completion', 'bash'])
    const code = `${script}\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(( $# - 1 ))\n_kernel_ladder\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`
    const { stdout, stderr } = spawnSync('bash', ['-c', code, 'bash', ...line], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
    })
    expect(stderr).toBe('')
    return stdout.split('\n').filter(Boolean)
  }

  it('completes names with spaces, quotes, colons, and dollar signs in bash', async () => {
    expect(
      await inBash(['kernel-ladder', 'show', ''], ['my session\tFP32', "it's", '$HOME', 'a\\b']),
    ).toEqual(['my\\ session', "it\\'s", '\\$HOME', 'a\\\\b'])
    expect(
      await inBash(
        ['kernel-ladder', 'run', '--rungs', '01_naive,0'],
        ['01_naive,02_tile', 'a\\,b'],
      ),
    ).toEqual(['01_naive,02_tile', 'a\\\\,b'])
    // Inside quotes, the shell adds its own escapes.
    expect(await inBash(['kernel-ladder', 'show', '"my'], ['my session'])).toEqual(['my session'])
    // bash splits `recorded:gemm` into words and replaces only the last word.
    expect(
      await inBash(['kernel-ladder', 'show', 'recorded', ':', 'gemm'], ['recorded:gemm-fp32']),
    ).toEqual(['gemm-fp32'])
    expect(await inBash(['kernel-ladder', 'run', '--ladder', '=', 'g'], ['--ladder=gemm'])).toEqual(
      ['gemm'],
    )
  })

  it('parses quoted words on a bash command line', async () => {
    const { stdout } = await run([
      '__complete',
      'bash',
      '--',
      'kernel-ladder',
      'show',
      '"recorded:gemm-fp32-h200-81',
    ])
    expect(stdout).toContain('recorded:gemm-fp32-h200-8192')
  })
})

describe('the man page', () => {
  it('has every command and its options, and escapes roff syntax', async () => {
    const { stdout } = await run(['__man'])
    for (const word of ['lab check', 'regress', 'mcp', 'completion'])
      expect(stdout).toContain(`.SS ${word}`)
    expect(stdout).toContain('\\-\\-profile\\-limit')
    // The man page must not contain hidden commands.
    expect(stdout).toContain('blank, ')
    expect(stdout).not.toContain('__complete')
    // In a man page, a text line that begins with a dot would be a command.
    for (const line of stdout.split('\n'))
      if (line.startsWith('.')) expect(line).toMatch(/^\.(TH|SH|SS|PP|TP|B|I|RI)\b/)
  })
})

describe('kernel-ladder without arguments', () => {
  it('prints what is available and what to do next in ten lines', async () => {
    const dir = await tempDir()
    const { code, stdout } = await run([], { KERNEL_LADDER_DATA: dir, PATH: '/nonexistent' })
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(10)
    expect(stdout).toContain('GPU: none found')
    expect(stdout).toMatch(/Recordings: \d+ of \d+ ladders, such as recorded:gemm-fp32-h200-4096/)
    expect(stdout).toContain('Last sessions: none yet')
  })
})

describe('help', () => {
  const names = Object.keys(examples)

  it.each(names)('for %s has an example whose options exist', async (name) => {
    const { code, stdout } = await run(['help', ...name.split(' ')])
    expect(code).toBe(0)
    const own = examples[name]!
    expect(own.length).toBeGreaterThan(0)
    for (const line of own) {
      expect(stdout).toContain(`$ kernel-ladder ${line}`)
      expect(line.startsWith(name)).toBe(true)
      for (const [option] of line.split(' -- ')[0]!.matchAll(/--[a-z-]+/g))
        expect(stdout.split('Example')[0]).toContain(option)
    }
  })

  it('has an example for every command', async () => {
    const { stdout } = await run(['help'])
    const commands = [...stdout.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name!)
    const groups = ['help', 'lab', 'machine']
    expect(commands.length).toBeGreaterThan(15)
    for (const name of commands) if (!groups.includes(name)) expect(names).toContain(name)
  })
})

describe('a misspelled name', () => {
  it.each([
    ['command', ['help', 'reprot'], 'Did you mean report?'],
    ['command', ['reprot'], 'Did you mean report?'],
    ['option', ['ladders', '--jsno'], 'Did you mean --json?'],
    ['ladder', ['ladders', 'gem-fp32'], 'Did you mean gemm-fp32?'],
    [
      'ladder of a run',
      ['run', '--ladder', 'gem-fp32', '--target', 'static:h200'],
      'Did you mean gemm-fp32?',
    ],
    ['rung', ['show', 'recorded', '--rung', '06_flaot4'], 'Did you mean 06_float4?'],
    [
      'rung of a run',
      ['run', '--ladder', 'gemm-fp32', '--target', 'static:h200', '--rungs', '06_flaot4'],
      'Did you mean 06_float4?',
    ],
    [
      'recording',
      ['show', 'recorded:gemm-fp32-h200-4069'],
      'Did you mean recorded:gemm-fp32-h200-4096?',
    ],
    [
      'session',
      ['show', 'recrded:gemm-fp32-h200-4096'],
      'Did you mean recorded:gemm-fp32-h200-4096?',
    ],
    [
      'lab',
      ['lab', 'start', '07-bank-conflict', join(root, 'nowhere')],
      'Did you mean 07-bank-conflicts?',
    ],
  ])('of a %s gets the closest match as a suggestion', async (_what, words, expected) => {
    const { code, stderr } = await run(words)
    expect(code).toBe(2)
    expect(stderr).toContain(expected)
  })
})
