/**
 * A Vite plugin for importing YAML files. The import is the parsed value, so the page needs no
 * parser.
 */
import { parse } from 'yaml'
import type { Plugin } from 'vite'

export const yamlModules = (): Plugin => ({
  name: 'kernel-ladder:yaml',
  transform: {
    filter: { id: /\.yaml$/ },
    handler: (source) => ({
      code: `export default ${JSON.stringify(parse(source))}`,
      map: null,
      moduleType: 'js',
    }),
  },
})
