/** Tests ladders from a rung's commits, in repositories that the tests create. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readSources } from '../../src-main/adapters/sessions/session-sources'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { commitLadder } from '../../src-main/services/folders/commits'
import { openLadder } from '../../src-main/services/folders/open'
import { planRun } from '../../src-main/services/run/plan'
import { startRun } from '../../src-main/services/targets/start-run'
import { said } from '../support'
import { fakeMachine, recordingsDir, root, rungText, sumsFolder, type Machine } from './support'
import { checkOutRevision } from '../../src-main/adapters/catalog/check-out-revision'
import { diffSources } from '../../src-main/services/compare/source-diff'

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@example.org', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()

interface Repository extends Machine {
  folder: string
  commit: (subject: string, files: Record<string, string>) => Promise<void>
}

/** Creates a repository. If `like` is given, copies that repository. */
async function repository(like?: string): Promise<Repository> {
  const machine = await fakeMachine()
  const folder = await sumsFolder(machine)
  if (like === undefined) git(folder, 'init', '-q', '-b', 'main')
  else {
    rmSync(folder, { recursive: true })
    cpSync(like, folder, { recursive: true })
  }
  const commit = async (subject: string, files: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '--allow-empty', '-m', subject)
  }
  if (like === undefined) await commit('Add the ladder', {})
  return { ...machine, folder, commit }
}

/**
 * A template repository with the commits that `write` makes. Copying the template is faster than
 * repeating the commits.
 */
const pattern = mkdtempSync(join(tmpdir(), 'kl-test-commits-'))
afterAll(() => rmSync(pattern, { recursive: true }))
let isWritten = false

async function written(): Promise<Repository> {
  if (isWritten) return repository(pattern)
  const made = await repository()
  await write(made)
  cpSync(made.folder, pattern, { recursive: true })
  isWritten = true
  return made
}

async function write({ folder, commit }: Repository): Promise<void> {
  await commit('Unroll b\n\nFour at a time,\nto hide latency.\n\nNot more.', {
    'b.cu': rungText('b', '// 4'),
  })
  await commit('Change c alone', { 'c.cu': rungText('c', '// 2') })
  await commit('Change what b includes', {
    'parts.cuh': '#include "deep.cuh"\n',
    'deep.cuh': '// 1\n',
  })
  await commit('Change what that includes', { 'deep.cuh': '// 2\n' })
  await commit('Change an unrelated header', { 'other.cuh': '// 1\n' })
  git(folder, 'switch', '-qc', 'side')
  await commit('On the side', { 'b.cu': rungText('b', '// 8') })
  await commit('And again', { 'b.cu': rungText('b', '// 16') })
  git(folder, 'switch', '-q', 'main')
  git(
    folder,
    '-c',
    'user.name=n',
    '-c',
    'user.email=n@example.org',
    'merge',
    '-q',
    '--no-ff',
    '-m',
    'Merge the side',
    'side',
  )
  await commit('Lose the header of b', { 'b.cu': '// no header\n#include "parts.cuh"\n' })
}

const ladderOf = async (
  { folder, setup }: Pick<Repository, 'folder' | 'setup'>,
  range: string,
  rung = 'b',
) => commitLadder(await openLadder(setup, folder), { rung, range })

describe("a rung's commits", () => {
  it("become rungs with the commit's subject and includes, and a merge becomes one rung", async () => {
    const made = await written()
    const before = git(made.folder, 'rev-parse', 'HEAD')
    const { catalog, id, rungs } = await ladderOf(made, 'HEAD~7..')
    const plan = planRun(catalog, { ladder: id, rungs, params: {}, profile: 'none' })
    expect(plan.rungs.map(({ rung }) => rung.title)).toEqual([
      'Unroll b',
      'Change what b includes',
      'Change what that includes',
      'Merge the side',
      'Lose the header of b',
    ])
    const [first, second, third, merge] = plan.rungs
    expect(first!.rung.header).toMatchObject({
      idea: 'Four at a time, to hide latency.',
      after: null,
    })
    expect(second!.rung.header).toMatchObject({
      idea: 'Change what b includes',
      after: first!.rung.id,
    })
    const deep = (planned: typeof first) =>
      [...planned!.headers!].find(([path]) => path.endsWith('deep.cuh'))?.[1]
    expect([first, second, third].map(deep)).toEqual([undefined, '// 1\n', '// 2\n'])
    expect(merge!.source).toContain('// 16')
    expect(first!.rung.file).toBe(`sums/${first!.rung.id}/b.cu`)
    // The reference is the current version, not a version from a commit.
    expect(plan.reference?.rung.file).toBe('sums/a.cu')
    expect([
      git(made.folder, 'rev-parse', 'HEAD'),
      git(made.folder, 'status', '--porcelain'),
    ]).toEqual([before, ''])
  })

  it('are built, run, and saved with their sources, without changing the working tree', async () => {
    const made = await written()
    const { folder, setup, dir } = made
    await writeFile(join(folder, 'b.cu'), rungText('b', '// not committed'))
    const { session, folder: saved } = await startRun(
      { ladder: folder, params: {}, target: 'local', profile: 'none' },
      {
        ...setup,
        out: join(dir, 'session'),
        appVersion: '0',
        commits: { rung: 'b', range: 'HEAD~3..HEAD~1' },
        emit: () => undefined,
        signal: new AbortController().signal,
      },
    )
    expect(session.rungs.map(({ title, status }) => [title, status])).toEqual([
      ['Merge the side', 'ok'],
    ])
    expect(session.ladder.id).toBe('sums-commits')
    expect(said(session.warnings)).toContain(
      'b or a header has uncommitted changes, which were not run.',
    )
    const [rung] = session.rungs
    expect(await readFile(join(saved!, 'sources', rung!.file), 'utf8')).toContain('// 16')
    expect(await readFile(join(folder, 'b.cu'), 'utf8')).toContain('not committed')
  })

  it("execute no code from their repository's configuration", async () => {
    const made = await written()
    const mark = join(made.dir, 'ran')
    const program = `touch ${mark}; cat`
    for (const [name, use] of [
      ['one', 'process'],
      ['two', 'smudge'],
      ['of = a.name', 'smudge'],
    ]) {
      git(made.folder, 'config', `filter.${name}.${use}`, program)
      git(made.folder, 'config', `filter.${name}.required`, 'true')
    }
    git(made.folder, 'config', 'core.sshCommand', program)
    await writeFile(
      join(made.folder, '.git/info/attributes'),
      '*.cu filter=one\n*.yaml filter=two\n',
    )
    const into = join(made.dir, 'checked-out')
    await mkdir(into)
    const { signal } = new AbortController()
    const { folder } = await checkOutRevision(made.folder, 'HEAD', into, signal)
    expect(await readdir(folder)).toContain('ladder.yaml')
    await ladderOf(made, 'HEAD~7..')
    expect(existsSync(mark)).toBe(false)
  })

  it('may be commits of a file in a different repository, with or without a header', async () => {
    const made = await written()
    const elsewhere = join(made.dir, 'elsewhere')
    await mkdir(join(elsewhere, 'src'), { recursive: true })
    git(elsewhere, 'init', '-q', '-b', 'main')
    for (const [n, text] of [
      '// a\n',
      '#include "../k.h"\n',
      '#include "../k.h"\n// b\n',
    ].entries()) {
      await writeFile(join(elsewhere, 'src/kernel.cu'), text)
      await writeFile(join(elsewhere, 'k.h'), '// k\n')
      git(elsewhere, 'add', '-A')
      git(elsewhere, 'commit', '-qm', `Number ${n}`)
    }
    const { catalog, rungs } = await ladderOf(
      made,
      'HEAD~2..HEAD',
      join(elsewhere, 'src/kernel.cu'),
    )
    const sources = rungs.map((id) => catalog.rungs.get(id)!)
    expect(sources.map(({ header }) => header.title)).toEqual(['Number 1', 'Number 2'])
    expect([...sources[0]!.headers!.keys()]).toEqual([`sums/${rungs[0]}/k.h`])
    expect(sources[0]!.file).toBe(`sums/${rungs[0]}/src/kernel.cu`)
  })
})

describe('the recorded commits', () => {
  /** Creates the repository that the recordings used. */
  async function recordedHistory() {
    const { dir, setup } = await fakeMachine()
    const folder = join(dir, 'sum-history')
    await mkdir(folder)
    git(folder, 'init', '-q', '-b', 'main')
    execFileSync('git', ['fast-import', '--quiet'], {
      cwd: folder,
      input: await readFile(join(root, 'test/gpu/sum-history.txt')),
    })
    git(folder, 'reset', '-q', '--hard', 'main')
    const first = git(folder, 'rev-list', '--max-parents=0', 'main')
    return { folder, setup, range: `${first}..main` }
  }

  it('match their repository, including the commit that does not compile', async () => {
    const history = await recordedHistory()
    const { catalog, rungs } = await ladderOf(history, history.range, 'sum')
    const recording = join(recordingsDir, 'sum-history-h200')
    const session = await readSession(recording)
    const { texts } = await readSources(recording, session)
    expect(catalog.ladders[0]!.title).toBe(session.ladder.title)
    expect(session.rungs.map(({ id, title }) => [id, title, texts[id]])).toEqual(
      rungs.map((id) => {
        const { header, text } = catalog.rungs.get(id)!
        return [id, header.title, text]
      }),
    )
    expect(session.rungs.map(({ status }) => status)).toEqual(
      rungs.map((id) => (catalog.rungs.get(id)!.text.includes(' quad[i]') ? 'failed' : 'ok')),
    )
    // The difference between successive rungs is their commit's diff.
    for (const [index, after] of rungs.slice(1).entries()) {
      const before = rungs[index]!
      const own = diffSources(texts[before]!, texts[after]!).flatMap(({ lines }) => lines)
      const commit = git(history.folder, 'diff', '-U3', before, after, '--', 'sum.cu')
      expect(own).toEqual(commit.split('\n').filter((line) => /^[ +-](?!--|\+\+)/.test(line)))
    }
  })
})

describe('rejected inputs include', () => {
  const refusal = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown as { kind: string; message: string; remedy?: string },
    )
    expect(error?.kind).toBe('input')
    return [error!.message, error!.remedy].flatMap((text) => (text ? [said(text)] : [])).join(' ')
  }

  it('ranges that are invalid or empty, or refer to missing commits', async () => {
    const made = await written()
    const says = (range: string, rung?: string) => refusal(ladderOf(made, range, rung))
    expect(await says('HEAD')).toContain('"HEAD" is not a range of commits')
    expect(await says('HEAD~1...HEAD')).toContain('is not a range of commits')
    expect(await says('--output=x..HEAD')).toContain('is not a range of commits')
    expect(await says('nope..HEAD')).toContain('nope is not a commit in the repository')
    const last = git(made.folder, 'log', '-1', '--format=%h %s', 'HEAD~3', '--', 'b.cu')
    expect(await says('HEAD~3..HEAD~2')).toContain(`The last commit with changes is ${last}.`)
    expect(await says('HEAD~1..HEAD~1')).toContain('No commit in HEAD~1..HEAD~1 changed')
    expect(await says('HEAD~1..', 'zz')).toContain('a, b, c')
  })

  it('a folder outside any repository, and a clone without the earlier commits', async () => {
    const alone = await fakeMachine()
    const folder = await sumsFolder(alone)
    expect(await refusal(ladderOf({ ...alone, folder }, 'a..b'))).toContain(
      'is not in a git repository',
    )
    const made = await written()
    const clone = join(made.dir, 'clone')
    git(made.dir, 'clone', '-q', '--depth', '4', `file://${made.folder}`, clone)
    const shallow = { ...made, folder: clone }
    expect(
      await refusal(ladderOf(shallow, `${git(made.folder, 'rev-parse', 'HEAD~6')}..HEAD`)),
    ).toContain('git fetch --unshallow')
    expect((await ladderOf(shallow, 'HEAD~2..')).rungs).toHaveLength(2)
  })

  it('files in a submodule, because a submodule has its own history', async () => {
    const made = await written()
    const inner = join(made.dir, 'inner')
    await mkdir(inner)
    git(inner, 'init', '-q', '-b', 'main')
    for (const n of [1, 2]) {
      await writeFile(join(inner, 'k.cu'), `// ${n}\n`)
      git(inner, 'add', '-A')
      git(inner, 'commit', '-qm', `Inner ${n}`)
    }
    git(
      made.folder,
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      `file://${inner}`,
      'sub',
    )
    await made.commit('Add a submodule', { 'b.cu': '#include "sub/k.cu"\n' })
    // Includes from a submodule are ignored. The build reports the missing file.
    const { catalog, rungs } = await ladderOf(made, 'HEAD~1..')
    expect(catalog.rungs.get(rungs[0]!)!.headers!.size).toBe(0)
    const own = await ladderOf(made, 'HEAD~1..', join(made.folder, 'sub/k.cu'))
    expect(own.catalog.rungs.get(own.rungs[0]!)!.header.title).toBe('Inner 2')
  })
})
