// @ts-check
/**
 * `npm run typecheck` checks the types of all code. Each message contains the file, line and
 * column.
 */
import { checkComponents, checkTypes } from './lib/components.mjs'
import { root, runScript } from './lib/project.mjs'

await runScript(async () => {
  const [node, components] = await Promise.all([
    checkTypes('tsconfig.node.json'),
    checkComponents(root),
  ])
  const all = [node.output.trimEnd(), ...components].filter(Boolean)
  if (all.length > 0) console.log(all.join('\n'))
  return node.code === 0 && components.length === 0 ? 0 : 1
})
