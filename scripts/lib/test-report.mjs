// @ts-check
/** What is read in Vitest's report: the counts in the last line of `npm test`, and the tests that took two tries. */

import { basename } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/**
 * A test file that fails to load has no tests to count; it counts as one failed test.
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
 * The tests that failed and then passed, by their file and name, with what the first try failed with. They count as passed.
 * @param {any} report of Vitest's JSON reporter, which keeps what the first try failed with; undefined if it wrote none
 * @returns {string[]}
 */
export const secondTries = (report) =>
  (report?.testResults ?? []).flatMap((/** @type {any} */ { name, assertionResults }) =>
    assertionResults
      .filter(
        (/** @type {any} */ { status, failureMessages }) =>
          status === 'passed' && failureMessages.length > 0,
      )
      .map(
        (/** @type {any} */ { fullName, failureMessages }) =>
          `${basename(name)}: ${fullName.trim()} (${stripVTControlCharacters(failureMessages[0]).split('\n', 1)[0]})`,
      ),
  )

/** @param {readonly Counts[]} all */
export function closingLine(all) {
  /** @param {keyof Counts} kind */
  const sum = (kind) => all.reduce((total, counts) => total + counts[kind], 0)
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : ''
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped}`
}
