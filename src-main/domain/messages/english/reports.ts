/** Why a report, a chart or a print was not made. */
export const reports = {
  neitherHas: 'Neither session has a rung named {rung}.',
  seeRungs: 'See the rungs of each with `kernel-ladder show`.',
  nothingToChoose: 'The chart {chart} has no choices.',
  noChoice: '{choice} cannot be shown by the chart {chart} of this session.',
  choices: 'It can show: {choices}.',
  noChart: 'The session has no chart named {chart}.',
  charts: 'Its charts are: {charts}.',
  captionOfNone: 'There is no chart {chart} in the report to put a caption under.',
  nothingToDraw: 'The session has no data for the chart {chart}.',
  notComparable: 'These sessions cannot be compared.',
  nameComparable: 'Choose two sessions of the same ladder, size and data type.',
  nothingInCommon: 'These sessions cannot be compared: they have no rung in common.',
  noTemplate: 'The template of HTML reports cannot be read: {file} ({text}).',
  templateDamaged: 'The template of HTML reports is damaged.',
  build: 'Run `npm run build`.',
  notExecutable: 'KERNEL_LADDER_CHROMIUM is {file}, which is not an executable file.',
  nameBrowser: 'Set it to the executable of Chromium or Chrome, or leave it unset.',
  noBrowser: 'A {what} requires Chromium or Chrome, and none was found on this machine.',
  installBrowser:
    'Install Chromium or Chrome, or set KERNEL_LADDER_CHROMIUM to its executable. The desktop app prints without one, and an HTML report can be printed from any browser.',
  halfMade:
    '{program} left an incomplete {what} in {folder}: the disk is full, or the browser was stopped.',
  freeTemporary: 'Free some space there, or set TMPDIR to another folder, and try again.',
  browserTimeout: '{program} produced no {what}: it did not finish within {seconds} s.',
  browserKilled: '{program} produced no {what}: {signal} killed it.',
  browserEnded: '{program} produced no {what}: it exited with code {exitCode}.',
  lastWords: 'Its last output: {text}',
  otherBrowser:
    'Try another browser with KERNEL_LADDER_CHROMIUM, or make an HTML report and print that.',
} as const
