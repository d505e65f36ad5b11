// @ts-check
/** Reads the tables of CONTRIBUTING.md, which list the files that a recipe changes. */

/**
 * Returns the paths in the first column of a section's table. `<name>` means any name, `*` a folder, and `{a,b}` each
 * alternative.
 * @param {string} document
 * @param {string} heading
 */
export function filesOf(document, heading) {
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, path = '']) => {
      const [, before, names, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? []
      return names === undefined
        ? [path]
        : names.split(',').map((name) => `${before}${name.trim()}${after}`)
    }),
  )
}

/** @param {string} path of a table */
const patternOf = (path) =>
  new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replaceAll('*', '[^/]+')
      .replaceAll(/<[^>]+>/g, '[^/]+')}${path.endsWith('/') ? '' : '$'}`,
  )

/**
 * Returns how changed files differ from a table's. A path that ends with `/` means all files below it.
 * @param {readonly string[]} listed
 * @param {readonly string[]} changed
 */
export function unlike(listed, changed) {
  const patterns = listed.map(patternOf)
  return [
    ...changed
      .filter((path) => !patterns.some((pattern) => pattern.test(path)))
      .map((path) => `${path} changed and is not in the table.`),
    ...listed
      .filter((_, index) => !changed.some((path) => patterns[index]?.test(path)))
      .map((path) => `${path} is in the table and did not change.`),
  ]
}
