// @ts-check
/** Counts the tests in Vitest's report for the last line of `npm test`. */

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/**
 * Returns the counts of a test run. A test file that fails to load counts as one failed test.
 * @param {any} report of Vitest's JSON reporter, undefined if it wrote none
 * @param {number} exitCode of Vitest
 * @returns {Counts}
 */
export function countTests(report, exitCode) {
  /** @type {any[]} */
  const files = report?.testResults ?? []
  const broken = files.filter(
    (file) =>
      file.status === 'failed' &&
      !file.assertionResults.some((/** @type {any} */ test) => test.status === 'failed'),
  ).length
  const failed = (report?.numFailedTests ?? 0) + broken
  return {
    passed: report?.numPassedTests ?? 0,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
  }
}

/**
 * Returns the number of tests with the tag `thorough`.
 * @param {any} report of Vitest's JSON reporter, undefined if it wrote none
 * @returns {number}
 */
export const thoroughTests = (report) =>
  (report?.testResults ?? []).flatMap((/** @type {any} */ file) =>
    file.assertionResults.filter((/** @type {any} */ { tags }) => tags?.includes('thorough')),
  ).length

/** @param {readonly Counts[]} all */
export function closingLine(all) {
  /** @param {keyof Counts} kind */
  const sum = (kind) => all.reduce((total, counts) => total + counts[kind], 0)
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : ''
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped}`
}
