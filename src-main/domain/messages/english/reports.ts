/** Why a report, a chart or a print was not made. */
export const reports = {
  neitherHas: 'Neither session has a rung named {rung}.',
  seeRungs: 'See the rungs of each with `kernel-ladder show`.',
  nothingToChoose: 'There is nothing to choose of the chart {chart}.',
  noChoice: '{choice} is nothing that the chart {chart} of this session can show.',
  choices: 'It can show: {choices}.',
  nothingToDraw: 'The session has nothing to draw as {chart}.',
  notComparable: 'These sessions cannot be compared.',
  nameComparable: 'Name two sessions of one ladder at one size and data type.',
  nothingInCommon: 'These sessions cannot be compared: they have no rung in common.',
  noTemplate: 'The page that an HTML report is made of cannot be read: {file} ({text}).',
  templateDamaged: 'The page that an HTML report is made of is damaged.',
  build: 'Run `npm run build`.',
  notExecutable: 'KERNEL_LADDER_CHROMIUM is {file}, which is not an executable file.',
  nameBrowser: 'Set it to the executable of Chromium or Chrome, or leave it unset.',
  noBrowser: 'No Chromium or Chrome was found on this machine, and a {what} needs one.',
  installBrowser:
    'Install Chromium or Chrome, or set KERNEL_LADDER_CHROMIUM to its executable. The desktop program prints without one, and an HTML report can be printed from any browser.',
  halfMade:
    '{program} left half a {what} in {folder}: the disk is full, or the browser was stopped.',
  freeTemporary: 'Free some space there, or set TMPDIR to another folder, and try again.',
  browserTimeout: '{program} made no {what}: it did not finish within {seconds} s.',
  browserKilled: '{program} made no {what}: it ended by {signal}.',
  browserEnded: '{program} made no {what}: it ended with code {exitCode}.',
  lastWords: 'Its last words: {text}',
  otherBrowser:
    'Try another browser with KERNEL_LADDER_CHROMIUM, or make an HTML report and print that.',
} as const
