/** Reads the members of Electron's modules and classes from its declarations. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const file = join(import.meta.dirname, '../../node_modules/electron/electron.d.ts')

type Declaration = ts.ClassDeclaration | ts.InterfaceDeclaration

const declarations = new Map<string, Declaration[]>()

function collect(node: ts.Node): void {
  if ((ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) && node.name) {
    const name = node.name.text
    declarations.set(name, [...(declarations.get(name) ?? []), node])
  }
  ts.forEachChild(node, collect)
}

collect(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true))

/** Members that Electron's classes inherit from Node.js event emitters. */
const ofEmitters = [
  ...['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'emit'],
  ...['listeners', 'listenerCount', 'eventNames', 'setMaxListeners', 'prependListener'],
]

/**
 * Returns the members of a class or interface, including inherited members. Throws an error if
 * Electron does not declare the class.
 */
export function membersOf(name: string): ReadonlySet<string> {
  const found = declarations.get(name)
  if (!found) throw new Error(`electron.d.ts declares no ${name}`)
  const names = new Set<string>()
  for (const declaration of found) {
    for (const member of declaration.members)
      if (member.name && (ts.isIdentifier(member.name) || ts.isStringLiteral(member.name)))
        names.add(member.name.text)
    for (const { types } of declaration.heritageClauses ?? [])
      for (const { expression } of types) {
        const parent = expression.getText()
        if (/EventEmitter/.test(parent)) for (const own of ofEmitters) names.add(own)
        else if (declarations.has(parent)) for (const own of membersOf(parent)) names.add(own)
      }
  }
  return names
}
