/**
 * Tests the CI workflows without running them. All programs that the workflows start must exist,
 * and the permissions must be minimal.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.github/workflows')

interface Job {
  permissions?: Record<string, string>
  'timeout-minutes'?: number
  steps: { uses?: string; run?: string }[]
}

interface Workflow {
  permissions: Record<string, string>
  jobs: Record<string, Job>
}

const files = readdirSync(folder)
const workflows = files.map((file) => {
  const text = readFileSync(join(folder, file), 'utf8')
  return { file, text, workflow: parse(text) as Workflow }
})
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps)
const commands = workflows.flatMap(({ workflow }) => stepsOf(workflow).map(({ run }) => run ?? ''))

describe('a workflow', () => {
  it('starts only scripts from package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const started = commands.flatMap((command) =>
      [...command.matchAll(/npm (?:run (?:-s )?)?([a-z-]+)/g)].map(([, name]) => name!),
    )
    expect(new Set(started)).toEqual(new Set(['test', 'kernels', 'build', 'pack']))
    for (const name of started.filter((one) => one !== 'pack'))
      expect(Object.keys(scripts)).toContain(name)
  })

  it('uses only files and folders that exist', () => {
    const paths = commands.flatMap(
      (command) => command.match(/\b(?:test|scripts)\/[\w./-]+/g) ?? [],
    )
    expect(paths).toContain('test/desktop')
    for (const path of paths) expect(existsSync(join(root, path)), path).toBe(true)
  })

  it.each(workflows)('$file pins each action to a commit and includes its version', ({ text }) => {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action!)
    expect(used.length).toBeGreaterThan(0)
    for (const action of used) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it.each(workflows)(
    '$file has only read permission, and its jobs have time limits',
    ({ workflow }) => {
      expect(workflow.permissions).toEqual({ contents: 'read' })
      for (const job of Object.values(workflow.jobs))
        expect(job['timeout-minutes']).toBeLessThanOrEqual(60)
    },
  )

  it('has write permission only to create the release', () => {
    const writing = workflows.flatMap(({ workflow }) =>
      Object.entries(workflow.jobs).flatMap(([name, { permissions }]) =>
        permissions ? [{ name, permissions }] : [],
      ),
    )
    expect(writing).toEqual([{ name: 'release', permissions: { contents: 'write' } }])
  })
})
