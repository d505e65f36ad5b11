// @ts-check
/** Parses the tables in CONTRIBUTING.md that list which files a recipe changes. */

/**
 * Returns the paths in the first column of a section's table. In a path, `<name>` matches any name,
 * `*` any folder, and `{a,b}` each alternative.
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

/** @param {string} path in a table */
const patternOf = (path) =>
  new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replaceAll('*', '[^/]+')
      .replaceAll(/<[^>]+>/g, '[^/]+')}${path.endsWith('/') ? '' : '$'}`,
  )

/**
 * Returns the differences between the changed files and the paths in a table. A path that ends with
 * `/` matches all files below it.
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
