/** A Vite plugin that imports a YAML file as its parsed value, so that a page needs no parser. */
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
