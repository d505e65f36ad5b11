// @ts-check
/**
 * What the program is allowed to cost, stated once: a benchmark hands its figure to `judge`, which says
 * beside it whether the budget is met, and the benchmarks end with all of them and exit code 1 where one is
 * over. Times and frames are those of a quiet machine.
 */

/**
 * @typedef {object} Budget
 * @property {string} what
 * @property {number} most
 * @property {string} unit
 * @property {number} [digits] after the point, in print
 */

/** A frame longer than this is seen: two of a display's sixty a second. */
export const slowFrameMs = 32

const budgets = /** @satisfies {Record<string, Budget>} */ ({
  initialScripts: { what: 'First scripts, compressed by gzip', most: 700, unit: 'kB' },
  initialLibraries: { what: 'Charts, editor or formulas among them', most: 0, unit: 'files' },
  interactive: { what: 'Recorded session to interactive, median', most: 1000, unit: 'ms' },
  pairSwitch: { what: 'Pair switched over 1,500 lines, median', most: 100, unit: 'ms' },
  slowFrames: { what: `Frames over ${slowFrameMs} ms`, most: 0, unit: 'frames' },
  rendererMemory: { what: 'Memory of the page’s process (PSS)', most: 250, unit: 'MB' },
  htmlSize: { what: 'HTML report of 14 deep rungs', most: 2, unit: 'MB', digits: 2 },
  htmlTime: { what: 'HTML report of 14 deep rungs, median', most: 2, unit: 's', digits: 2 },
  largeHtmlTime: { what: 'HTML report of 200 rungs, median', most: 10, unit: 's', digits: 2 },
  cardPasses: { what: 'Passes of the card level', most: 1, unit: 'pass a kernel' },
  cardOverBare: { what: 'Card level over a bare ncu', most: 1.15, unit: '×', digits: 2 },
  cardOverFull: { what: 'Card level over ncu --set full', most: 0.1, unit: '×', digits: 3 },
  standardPasses: { what: 'Passes of the standard level', most: 8, unit: 'passes a kernel' },
  pdfTime: { what: 'PDF report of 14 deep rungs, median', most: 20, unit: 's', digits: 2 },
})

/** @typedef {keyof typeof budgets} BudgetName */
/** @param {BudgetName} name @returns {Budget} */
export const budget = (name) => budgets[name]

/** A tally of budgets, filled by the benchmarks of one run. */
export function budgetTally() {
  /** @type {{ line: string, over: boolean }[]} */
  const judged = []
  return {
    /**
     * @param {BudgetName} name
     * @param {number} figure in the budget's unit
     * @param {string} [where] tells one figure of a budget from another
     * @returns {string} `met, of 1000 ms`
     */
    judge(name, figure, where) {
      const { what, most, unit, digits = 0 } = budget(name)
      // NaN is no figure that met anything.
      const over = !(figure <= most)
      const verdict = over ? 'over' : 'met'
      const label = where ? `${what}, ${where}` : what
      judged.push({
        line: `${verdict.padEnd(4)}  ${label}: ${figure.toFixed(digits)} of ${most} ${unit}`,
        over,
      })
      return `${verdict}, of ${most} ${unit}`
    },
    /** @returns {{ lines: string[], over: number }} */
    summary: () => ({
      lines: judged.map(({ line }) => line),
      over: judged.filter(({ over }) => over).length,
    }),
  }
}

/** @typedef {ReturnType<typeof budgetTally>['judge']} Judge */

/**
 * Prints what was judged; gives the exit code.
 * @param {ReturnType<ReturnType<typeof budgetTally>['summary']>} summary
 */
export function printBudgets({ lines, over }) {
  if (lines.length > 0) console.log(`\nBudgets, ${over === 0 ? 'all met' : `${over} over`}:`)
  for (const line of lines) console.log(`  ${line}`)
  return over === 0 ? 0 : 1
}
