// @ts-check
/**
 * Defines the performance budgets. Each benchmark passes its result to `judge`, which reports
 * whether the budget is met. The benchmark run ends with a list of all budgets. The run's exit code
 * is 1 if a budget is exceeded. The budgets for times and frames assume an otherwise idle machine.
 */

/**
 * @typedef {object} Budget
 * @property {string} what
 * @property {number} most
 * @property {string} unit
 * @property {number} [digits] decimals when printed
 */

/**
 * Frame time in milliseconds above which a frame is slow. A frame longer than this limit is
 * noticeable, because it takes two refreshes of a 60 Hz display.
 */
export const slowFrameMs = 32

const budgets = /** @satisfies {Record<string, Budget>} */ ({
  initialScripts: { what: 'Initial scripts, gzip-compressed', most: 700, unit: 'kB' },
  initialLibraries: {
    what: 'Chart, editor or formula libraries among them',
    most: 0,
    unit: 'files',
  },
  interactive: { what: 'Recorded session to interactive, median', most: 1000, unit: 'ms' },
  pairSwitch: { what: 'Pair switch over 1,500 lines, median', most: 100, unit: 'ms' },
  viewOpened: { what: 'View of Compare opened, median', most: 100, unit: 'ms' },
  slowFrames: { what: `Frames over ${slowFrameMs} ms`, most: 0, unit: 'frames' },
  rendererMemory: { what: 'Memory of the page’s process (PSS)', most: 250, unit: 'MB' },
  htmlSize: { what: 'HTML report of 14 deep rungs', most: 2, unit: 'MB', digits: 2 },
  htmlTime: { what: 'HTML report of 14 deep rungs, median', most: 2, unit: 's', digits: 2 },
  largeHtmlTime: { what: 'HTML report of 200 rungs, median', most: 10, unit: 's', digits: 2 },
  cardPasses: { what: 'Passes of the card level', most: 1, unit: 'pass per kernel' },
  cardOverBare: { what: 'Card level over plain ncu', most: 1.15, unit: '×', digits: 2 },
  cardOverFull: { what: 'Card level over ncu --set full', most: 0.1, unit: '×', digits: 3 },
  standardPasses: { what: 'Passes of the standard level', most: 8, unit: 'passes per kernel' },
  startHelp: { what: 'Start of --help, median', most: 250, unit: 'ms' },
  startLadders: { what: 'Start of ladders, median', most: 500, unit: 'ms' },
  packageSize: { what: 'npm package', most: 12, unit: 'MB', digits: 2 },
  emulatedLadder: { what: 'gemm-fp32 at 512, emulated, median', most: 20, unit: 's', digits: 1 },
  emulatedLab: { what: 'Lab check, emulated, median', most: 10, unit: 's', digits: 1 },
  predictedRung: { what: 'Rung at 512, predicted, median', most: 2, unit: 's', digits: 1 },
  predictedLab: { what: 'Lab check, predicted, median', most: 5, unit: 's', digits: 1 },
  predictedLadder: {
    what: 'gemm-fp32 at 4096, predicted, median',
    most: 120,
    unit: 's',
    digits: 0,
  },
  sessionsTime: { what: 'List of 10,000 sessions, median', most: 500, unit: 'ms' },
  sessionsMemory: { what: 'Memory of that process, peak', most: 200, unit: 'MB' },
  pdfTime: { what: 'PDF report of 14 deep rungs, median', most: 20, unit: 's', digits: 2 },
})

/** @typedef {keyof typeof budgets} BudgetName */
/** @param {BudgetName} name @returns {Budget} */
export const budget = (name) => budgets[name]

/** Returns a collector for the budget results of one benchmark run. */
export function budgetTally() {
  /** @type {{ line: string, over: boolean }[]} */
  const judged = []
  return {
    /**
     * @param {BudgetName} name
     * @param {number} figure the measured value, in the budget's unit
     * @param {string} [where] distinguishes several figures of one budget
     * @returns {string} `met, of 1000 ms`
     */
    judge(name, figure, where) {
      const { what, most, unit, digits = 0 } = budget(name)
      // NaN must fail every budget.
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
 * Prints the budget results and returns the exit code.
 * @param {ReturnType<ReturnType<typeof budgetTally>['summary']>} summary
 */
export function printBudgets({ lines, over }) {
  if (lines.length > 0) console.log(`\nBudgets, ${over === 0 ? 'all met' : `${over} over`}:`)
  for (const line of lines) console.log(`  ${line}`)
  return over === 0 ? 0 : 1
}
