// @ts-check
/** Generates docs/reference/library.md, the library's API, from its types and their comments. */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { documentWith } from './document.mjs'
import { root, PlainError } from './project.mjs'

/** @returns {Promise<string>} the text of the document */
export async function libraryDoc() {
  const { Application } = await import('typedoc')
  const out = mkdtempSync(join(tmpdir(), 'kernel-ladder-api-'))
  try {
    const app = await Application.bootstrapWithPlugins(
      /** @type {any} */ ({
        entryPoints: [join(root, 'src-main/api/index.ts')],
        tsconfig: join(root, 'tsconfig.library.json'),
        // The type check reports them, and the library is built from the same files.
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
    const api = readFileSync(join(out, 'api.md'), 'utf8')
    return await documentWith('docs/reference/library.md', [['api', api.trim()]])
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}
