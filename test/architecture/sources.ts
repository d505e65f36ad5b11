/** The text of the program, for rules that the import graph cannot tell. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

export interface SourceFile {
  /** Relative to the repository's root. */
  path: string
  text: string
}

/** A component's test lies beside it, and is no part of the program. */
export const isTest = (path: string): boolean => path.endsWith('.test.ts')

/** The program's files below these folders. */
export const sourcesIn = (...folders: readonly string[]): SourceFile[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|vue)$/.test(name) && !isTest(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  )

/** Each line that holds one of the patterns, with its place. */
export const linesWith = (files: readonly SourceFile[], patterns: readonly RegExp[]): string[] =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        patterns.some((pattern) => pattern.test(line))
          ? [`${path}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  )
