// @ts-check
/**
 * Generates the API documents of the library from its types and their comments.
 * docs/reference/library.md lists the functions. docs/reference/tables/api.md contains the complete
 * API.
 */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { documentWith } from './document.mjs'
import { root, PlainError } from './project.mjs'

const libraryPath = 'docs/reference/library.md'
const apiPath = 'docs/reference/tables/api.md'

/**
 * Returns a table with one row per function and the first sentence of its comment.
 * @param {string} api
 */
const functionsPart = (api) =>
  [
    '| function | purpose |',
    '| --- | --- |',
    ...[...api.matchAll(/^### (\w+)\(\)\n\n> .*\n\n((?:[^\n]+\n)+)/gm)].map(
      ([, name = '', about = '']) =>
        `| [\`${name}\`](tables/api.md#${name.toLowerCase()}) | ${about
          .trim()
          .split(/(?<=\.)\s/)[0]
          ?.replaceAll('\n', ' ')} |`,
    ),
  ].join('\n')

/** @returns {Promise<Map<string, string>>} contents of each document by path */
export async function libraryDocs() {
  const { Application } = await import('typedoc')
  const out = mkdtempSync(join(tmpdir(), 'kernel-ladder-api-'))
  try {
    const app = await Application.bootstrapWithPlugins(
      /** @type {any} */ ({
        entryPoints: [join(root, 'src-main/api/index.ts')],
        tsconfig: join(root, 'tsconfig.library.json'),
        // Don't check for errors here, because the type check already reports errors in the same
        // files.
        skipErrorChecking: true,
        plugin: ['typedoc-plugin-markdown'],
        outputs: [{ name: 'markdown', path: out }],
        readme: 'none',
        disableSources: true,
        hideBreadcrumbs: true,
        hidePageHeader: true,
        hidePageTitle: true,
        outputFileStrategy: 'modules',
        entryFileName: 'api',
        tableColumnSettings: { hideInherited: true, hideOverrides: true, hideModifiers: true },
        parametersFormat: 'table',
        interfacePropertiesFormat: 'table',
        typeDeclarationFormat: 'table',
        sort: ['source-order'],
        logLevel: 'Warn',
      }),
    )
    const project = await app.convert()
    if (project === undefined) throw new PlainError('The types of the library do not compile.')
    await app.generateOutputs(project)
    const api = readFileSync(join(out, 'api.md'), 'utf8').trim()
    return new Map([
      [libraryPath, await documentWith(libraryPath, [['functions', functionsPart(api)]])],
      [apiPath, await documentWith(apiPath, [['api', api]])],
    ])
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}
