import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileCycles, importsIn, readImports, roomCycles, violations } from './imports'

const root = new URL('../..', import.meta.url).pathname

describe('the source', () => {
  it('imports only what its layer allows', () => {
    const imports = readImports()
    expect(imports.length).toBeGreaterThan(0)
    expect(violations(imports)).toEqual([])
  })

  it('has no import cycles between folders or files', () => {
    const imports = readImports()
    expect(roomCycles(imports)).toEqual([])
    expect(fileCycles(imports)).toEqual([])
  })
})

describe('the command line', () => {
  it("loads a command's code only when the command runs, so that help and completion start immediately", () => {
    const definitions = [
      'src-main/hosts/cli/program.ts',
      'src-main/hosts/cli/commands/lab-commands.ts',
    ]
    const eager = readImports().filter(
      ({ from, specifier, typeOnly }) =>
        definitions.includes(from) &&
        !typeOnly &&
        /-command$|services\/(?!version)/.test(specifier),
    )
    // Modules that load on demand are imported by an import() call inside a function.
    const text = readFileSync(join(root, definitions[0]!), 'utf8')
    for (const { specifier } of eager) expect(text).toContain(`await import('${specifier}')`)
  })
})

describe('import cycles', () => {
  const edge = (from: string, specifier: string) => ({ from, specifier, typeOnly: true })

  it('between folders are reported with the imports that close each cycle', () => {
    expect(
      roomCycles([
        edge('src-main/services/run/a.ts', '../sessions/b'),
        edge('src-main/services/sessions/b.ts', '../labs/c'),
        edge('src-main/services/labs/c.ts', '../run/a'),
      ]),
    ).toEqual([
      'src-main/services/run → src-main/services/sessions → src-main/services/labs → src-main/services/run: ' +
        'src-main/services/run/a.ts imports src-main/services/sessions/b; ' +
        'src-main/services/sessions/b.ts imports src-main/services/labs/c; ' +
        'src-main/services/labs/c.ts imports src-main/services/run/a',
    ])
    expect(
      roomCycles([
        edge('src-renderer/charts/a.vue', '../features/charts/words'),
        edge('src-renderer/features/ladder/b.vue', '../../charts/a.vue'),
      ]),
    ).toHaveLength(1)
  })

  it('between files in one folder are found through type imports but not dynamic imports', () => {
    const back = edge('src-main/services/run/b.ts', './index')
    const there = edge('src-main/services/run/index.ts', './b')
    expect(fileCycles([there, back])).toEqual([
      'src-main/services/run/index.ts → src-main/services/run/b.ts → src-main/services/run/index.ts: ' +
        'src-main/services/run/index.ts imports src-main/services/run/b.ts; ' +
        'src-main/services/run/b.ts imports src-main/services/run/index.ts',
    ])
    expect(fileCycles([there, { ...back, onDemand: true }])).toEqual([])
  })

  it('between folders exclude imports within a folder, between layers, or into a shared third folder', () => {
    expect(
      roomCycles([
        edge('src-main/services/run/a.ts', './b'),
        edge('src-main/services/run/b.ts', './a'),
        edge('src-main/services/run/a.ts', '../../domain/gpu/x'),
        edge('src-main/services/app/core.ts', './run/a'),
        edge('src-main/services/app/core.ts', './labs/c'),
        edge('src-main/services/labs/c.ts', './../run/a'),
      ]),
    ).toEqual([])
  })
})

describe('the rules', () => {
  const one = (from: string, specifier: string, typeOnly = false) =>
    violations([{ from, specifier, typeOnly }])

  it.each([
    ['src-main/domain/a.ts', './b'],
    ['src-main/domain/a.ts', 'zod'],
    ['src-main/contract/index.ts', '../domain/a'],
    ['src-main/parsers/a.ts', '../domain/a'],
    ['src-main/parsers/a.ts', 'csv-parse/sync'],
    ['src-main/parsers/xml/a.ts', 'fast-xml-parser'],
    ['src-main/parsers/a.ts', 'node:zlib'],
    ['src-main/adapters/tools/process.ts', 'execa'],
    ['src-main/adapters/a.ts', '../parsers/a'],
    ['src-main/adapters/catalog/assets.ts', 'virtual:kernel-ladder-assets'],
    ['src-main/services/a.ts', '../adapters/a'],
    ['src-main/services/a.ts', '../contract/index'],
    ['src-main/hosts/cli/main.ts', 'commander'],
    ['src-main/hosts/cli/main.ts', '../web/server'],
    ['src-main/hosts/cli/main.ts', '../shared/core'],
    ['src-main/hosts/cli/main.ts', '../../../package.json'],
    ['src-main/hosts/electron/main.ts', 'electron/main'],
    ['src-main/hosts/electron/preload.ts', '../../contract'],
    ['src-main/hosts/electron/preload.ts', 'electron'],
    ['src-renderer/main.ts', '../src-main/contract/index'],
    ['src-renderer/features/run/Run.vue', '../../ui/Button.vue'],
    ['src-renderer/charts/bar.ts', 'echarts/core'],
    ['src-renderer/ui/icon.ts', './icon.svg?raw'],
  ])('%s may import %s', (from, specifier) => {
    expect(one(from, specifier)).toEqual([])
  })

  it.each([
    ['a layer above', 'src-main/domain/a.ts', '../parsers/a', 'domain may not import parsers'],
    ['a layer beside', 'src-main/contract/index.ts', '../parsers/a', 'contract may not import'],
    [
      'a service in an adapter',
      'src-main/adapters/a.ts',
      '../services/a',
      'adapters may not import',
    ],
    [
      'the contract in an adapter',
      'src-main/adapters/a.ts',
      '../contract',
      'adapters may not import',
    ],
    [
      'a host in a service',
      'src-main/services/a.ts',
      '../hosts/cli/main',
      'services may not import',
    ],
    ['Node in the domain', 'src-main/domain/a.ts', 'node:path', 'may not use Node'],
    ['Node without its prefix', 'src-main/domain/a.ts', 'fs/promises', 'may not use Node'],
    ['Node in the UI', 'src-renderer/main.ts', 'node:fs', 'may not use Node'],
    ['a library in the domain', 'src-main/domain/a.ts', 'diff', 'may not use the library diff'],
    ['files in a parser', 'src-main/parsers/a.ts', 'node:fs', 'may not do input or output'],
    ['execa elsewhere', 'src-main/adapters/tools/nvcc.ts', 'execa', 'execa is for'],
    ['XML elsewhere', 'src-main/adapters/a.ts', 'fast-xml-parser', 'fast-xml-parser is for'],
    ['CSV elsewhere', 'src-main/services/a.ts', 'csv-parse/sync', 'csv-parse is for'],
    ['commander elsewhere', 'src-main/hosts/web/a.ts', 'commander', 'commander is for'],
    ['charts elsewhere', 'src-renderer/features/a.vue', 'echarts', 'echarts is for'],
    ['Electron in the UI', 'src-renderer/main.ts', 'electron', 'electron is for'],
    ['Electron in the CLI', 'src-main/hosts/cli/main.ts', 'electron', 'electron is for'],
    ['Vue in the core', 'src-main/services/a.ts', 'vue', 'vue is for'],
    [
      'a parser in a service',
      'src-main/services/a.ts',
      '../parsers/a',
      'services may not import parsers',
    ],
    ['assets elsewhere', 'src-main/services/a.ts', 'virtual:kernel-ladder-assets', 'is for'],
    ['the core in the UI', 'src-renderer/main.ts', '../src-main/services/run', 'renderer may not'],
    [
      'the core in the preload',
      'src-main/hosts/electron/preload.ts',
      '../../domain/a',
      'preload may',
    ],
    [
      'the window in the preload',
      'src-main/hosts/electron/preload.ts',
      './main',
      'preload may not',
    ],
    ['another host', 'src-main/hosts/web/a.ts', '../electron/main', 'host web may not import'],
    [
      'the CLI in a window',
      'src-main/hosts/electron/main.ts',
      '../cli/main',
      'host electron may not',
    ],
    ['an alias', 'src-renderer/main.ts', '@/stores/a', 'no known module'],
    ['a file elsewhere', 'src-main/services/a.ts', '../../test/helper', 'outside of the source'],
    ['a file in no layer', 'src-main/utils.ts', './domain/a', 'belongs to no layer'],
  ])('reject %s', (_what, from, specifier, sentence) => {
    expect(one(from, specifier)).toEqual([expect.stringContaining(sentence)])
    expect(one(from, specifier, true)).toHaveLength(1)
  })
})

describe('the reader', () => {
  it('finds all kinds of imports', () => {
    const text = `
      import a from 'a'
      import type { B } from 'b'
      import 'c'
      export * from 'd'
      export type { E } from 'e'
      const f = await import('f')
      type G = import('g').G
      import h = require('h')
      const i = require('i')
      // import 'not this'
    `
    const found = importsIn('src-main/services/a.ts', text)
    expect(found.map(({ specifier }) => specifier).join('')).toBe('abcdefghi')
    expect(found.filter(({ typeOnly }) => typeOnly).map(({ specifier }) => specifier)).toEqual([
      'b',
      'e',
      'g',
    ])
  })

  it('reads the scripts in a component', () => {
    const text = `<script lang="ts">import 'a'</script>
      <script setup lang="ts">import b from './b'</script>
      <script src="./c.ts"></script>
      <template><p>import 'not this'</p></template>`
    const found = importsIn('src-renderer/A.vue', text)
    expect(found.map(({ specifier }) => specifier)).toEqual(['a', './b', './c.ts'])
  })
})
