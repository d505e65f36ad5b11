/** Tests the contents of the packaged desktop program and its binary's fuses. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { root } from '../../services/support'

const config = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as {
  asar: boolean
  files: string[]
  extraResources: { from: string; to: string }[]
  electronFuses: Record<string, boolean>
}

describe('the packaged program', () => {
  it('sets every fuse, and turns off fuses that weaken security', () => {
    expect(config.asar).toBe(true)
    expect(config.electronFuses).toEqual({
      runAsNode: false,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      grantFileProtocolExtraPrivileges: false,
      loadBrowserProcessSpecificV8Snapshot: false,
      enableCookieEncryption: true,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
    })
  })

  it('is built with the Electron version in the lock file', () => {
    const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'))
    const { packages } = read('package-lock.json') as {
      packages: Record<string, { version: string }>
    }
    const { version } = read('node_modules/electron/package.json') as { version: string }
    expect(version).toBe(packages['node_modules/electron']!.version)
    expect(Number.parseInt(version)).toBeGreaterThanOrEqual(45)
  })

  it('has a test for each item of Electron’s security checklist', () => {
    const rows = [
      ...readFileSync(join(root, 'docs/reference/security.md'), 'utf8').matchAll(
        /^\| (\d+) +\|.*\| `([a-z-]+)`: (.*?) +\|$/gm,
      ),
    ]
    expect(rows.map(([, number]) => Number(number))).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
    for (const [, , file, name] of rows) {
      const test = readFileSync(join(import.meta.dirname, `${file}.test.ts`), 'utf8')
      expect(test, `${file}: ${name}`).toContain(`'${name}'`)
    }
  })

  it('contains each folder that the program looks for, under the same name', () => {
    const source = readFileSync(join(root, 'src-main/adapters/catalog/assets.ts'), 'utf8')
    const places = [...source.matchAll(/: join\(root, ([^)]+)\)/g)].map(([, words]) =>
      words!.replaceAll(/[',]/g, '').replaceAll(' ', '/'),
    )
    // The archive must contain the program's own code.
    expect(places.filter((place) => place.startsWith('out/main/'))).toHaveLength(1)
    expect(places).toHaveLength(9)
    const carried = config.extraResources.map(({ from, to }) => {
      expect(from).toBe(to)
      expect(existsSync(join(root, from)) || from.startsWith('out/')).toBe(true)
      return to
    })
    for (const place of places.filter((one) => !one.startsWith('out/main/')))
      expect(carried.some((folder) => `${place}/`.startsWith(`${folder}/`))).toBe(true)
  })

  it('contains the entry point from package.json, and no dependencies', () => {
    const { main } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      main: string
    }
    expect(config.files).toContain(`${main.split('/').slice(0, 2).join('/')}/**`)
    expect(config.files).toContain('!node_modules')
  })
})
