// @ts-check
/**
 * `npm run recipes` applies each recipe in CONTRIBUTING.md to a temporary clone of the last commit.
 * Each recipe must change exactly the files that its table lists. Afterwards, the types, lint and
 * format checks and the tests of the changed parts must pass.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureInstalled } from './lib/install.mjs'
import { npmCommand, root, runScript, say } from './lib/project.mjs'
import { runChild } from './lib/child.mjs'
import { editorOf, recipes } from './lib/recipes.mjs'
import { filesOf, unlike } from './lib/recipe-tables.mjs'

const checks = [
  'run typecheck',
  'run lint',
  `exec -- vitest run --project=unit ${[
    ...['test/architecture', 'test/docs', 'test/domain/messages.test.ts', 'test/domain/metrics'],
    ...['test/domain/sass', 'test/domain/targets', 'test/parsers/kernels', 'test/parsers/labs'],
    ...['test/renderer', 'test/scripts/docs.test.ts', 'test/services/report', 'src-renderer'],
  ].join(' ')}`,
]

await runScript(async () => {
  await ensureInstalled()
  const clone = mkdtempSync(join(tmpdir(), 'kernel-ladder-recipes-'))
  /** @param {string[]} args */
  const git = (...args) => execFileSync('git', ['-C', clone, ...args], { encoding: 'utf8' })
  const npm = npmCommand()
  /** @param {string} words */
  const passes = async (words) => {
    const args = [...npm.args, ...words.split(' ')]
    const { code, output } = await runChild(npm.file, args, {
      cwd: clone,
      output: 'kept',
      shell: npm.shell,
    })
    if (code !== 0) say(`npm ${words} failed:\n${output}`)
    return code === 0
  }
  let failed = 0
  try {
    execFileSync('git', ['clone', '--quiet', '--shared', root, clone])
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n')
    const edit = editorOf(clone)
    const document = readFileSync(join(clone, 'CONTRIBUTING.md'), 'utf8')
    for (const { heading, carryOut, commands = [] } of recipes) {
      carryOut(edit)
      for (const command of commands) if (!(await passes(command))) failed += 1
      git('add', '--all')
      const changed = git('diff', '--cached', '--name-only').split('\n').filter(Boolean)
      await passes(`exec -- oxfmt ${changed.join(' ')}`)
      const faults = unlike(filesOf(document, heading), changed)
      say(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${heading}: ${changed.length} files`)
      for (const fault of faults) say(`       ${fault}`)
      failed += faults.length
      git('-c', 'user.name=recipes', '-c', 'user.email=', 'commit', '--quiet', '-am', heading)
    }
    for (const check of checks) {
      const passed = await passes(check)
      say(`${passed ? 'ok    ' : 'FAILED'} ${check.slice(0, 40)}`)
      if (!passed) failed += 1
    }
  } finally {
    if (process.env['KEEP'] === undefined) rmSync(clone, { recursive: true, force: true })
    else say(clone)
  }
  return failed === 0 ? 0 : 1
})
