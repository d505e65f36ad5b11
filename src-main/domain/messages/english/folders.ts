/**
 * Messages about files and folders: ladder folders, drafts, the editor, git, and read or write
 * failures.
 */

/** Disk errors, and reasons why a file cannot be read. */
export const files = {
  full: 'Could not {doing} {file}: the disk is full.',
  notAllowed: 'Could not {doing} {file}: this user is not permitted to write there.',
  inTheWay: 'Could not {doing} {file}: a file with that name exists.',
  refused: 'Could not {doing} {file}: {text}',
  tooManyOpen: 'This program cannot open any more files ({text}).',
  raiseLimit: 'Raise the limit, for example with “ulimit -n 4096”, and try again.',
  freeSpace: 'Free some space, or {elsewhere}.',
  allow: 'Change the permissions, or {elsewhere}.',
  remove: 'Remove the file, or {elsewhere}.',
  notFile: '{file} is not a file.',
  replace: 'Replace it with a file, or remove it.',
  exists: '{file} already exists.',
  otherFolder: 'Use --out to choose a folder that does not exist yet; nothing is overwritten.',
  madeMeanwhile: '{folder} was created by another program in the meantime.',
  savedElsewhere: 'The contents were saved in {folder} instead.',
  unreadable: '{file} cannot be read: {why}',
  notChanged: 'The file was not changed.',
  notJson: 'it is not JSON ({text}).',
  tooLarge: 'its size is {size} MiB; the limit is {most} MiB.',
  tooMany: 'it contains more than {most} values, which is the limit.',
  noVersion: 'it has no {field} version.',
  newer:
    'it has {word} {version}, but this version reads only up to {newest}; it was written by a newer kernel-ladder.',
  tooOld:
    'it has {word} {version}, which is no longer supported: run the ladder again, or import its report again.',
  neverWritten: 'it has {word} {version}, which no version of kernel-ladder writes.',
  rawDamaged: '{file} is damaged: {why}',
  rawLeft: 'Nothing was changed. Use another recording, or download this one again.',
  rawDeleted: 'The file was deleted during the run.',
  rawFull: 'The disk was full.',
  rawNotWritten: 'The file could not be written ({text}).',
  notUnpacked: 'it cannot be unpacked.',
  unpacksTooLarge: 'it expands to more than {most} MiB.',
  wrongChecksum: 'its content does not match its checksum.',
  noJson: 'it is not JSON.',
  noHome: 'This user has no home folder.',
  setFolders:
    'Set HOME to an absolute path where sessions and the cache can be stored, such as HOME=/tmp/me.',
  noKernels: 'The kernels were not found next to the program.',
  useCheckout:
    'Run the program from a checkout, or use the single-file program built by `npm run build`.',
} as const

/** Verbs for {doing} in the disk-error messages. */
export const doing = {
  read: 'read',
  write: 'write',
  writeTo: 'write to',
  create: 'create',
  save: 'save',
  delete: 'delete',
  restore: 'restore',
  unpack: 'unpack the program’s files into',
} as const

/** Suggestions for {elsewhere} in the disk-error messages. */
export const elsewhere = {
  out: 'choose another folder with --out',
  temporary: 'set TMPDIR to another folder',
  cache: 'move the cache with KERNEL_LADDER_CACHE',
  data: 'move the data folder with KERNEL_LADDER_DATA',
  other: 'choose another folder',
} as const

/** Reasons why a user's ladder folder cannot be opened. */
export const folders = {
  absent: 'There is no {file} in the folder.',
  unreadable: '{file} cannot be read ({text}).',
  leadsOut: '{file} is a link to a file outside the folder; use the file itself.',
  shippedId: '{ladder} is a ladder that ships with the program.',
  otherId: 'Give your ladder another id, because ids identify sessions.',
  none: 'There is no folder {folder}.',
  giveFolder: 'Give the path of a folder with a ladder.yaml.',
  cannotOpen: '{folder} cannot be opened ({text}).',
  noLadder: '{folder} contains no ladder.yaml.',
  notCounted: '{file} is not a rung of the ladder, so it has no counters.',
  giveLadder:
    'Give the folder that contains the ladder.yaml, or create one with `kernel-ladder init DIR`.',
  create: 'Run `kernel-ladder init {folder}` to create a ladder that builds and runs.',
  gone: 'The folder {folder} no longer exists.',
  bringBack: 'The text is still in the editor: restore the folder, or copy the text elsewhere.',
  notOpen: '{folder} is not open.',
  openFirst: 'Open the folder first.',
  untrusted:
    'The ladder in {folder} is not built in, and you have not trusted it. The ladder’s code would be built and run with your permissions.',
  trust:
    'Read the folder’s files. To trust this folder from now on, run the command again with --trust.',
  shipped: '{ladder} ships with the program and cannot be changed.',
  watchFolder: 'Only a ladder folder can be watched.',
  notOfLadder: '{file} does not belong in a ladder folder.',
  whatIs: 'A ladder folder contains a ladder.yaml, .cu files and headers.',
  notInFolder: '{file} is not in the folder.',
} as const

/** Messages about drafts, which are edited copies of rungs. */
export const drafts = {
  noBase: 'The ladder {ladder} has no rung {rung}, so the copy of that rung cannot run.',
  taken: 'The ladder {ladder} already has a rung {rung}.',
  gone: 'The draft no longer exists.',
  openAgain: 'Open the rung and edit a copy again.',
  noLadder:
    'The rung {rung} of {ladder} is not in this program’s ladders, so a copy of the rung cannot be run.',
  notShipped: '{ladder} is not a built-in ladder, and its folder is unknown.',
  imported:
    'An imported report contains no ladder to edit. To edit the report’s kernel, create a ladder folder from the source file: `kernel-ladder init --from FILE`.',
  folderGone: '{folder} no longer contains the ladder {ladder}.',
  noPython: 'A rung in Python can be edited only in a ladder folder.',
  openFolder: 'Open the ladder’s folder to edit its files.',
  copySource:
    'In a ladder folder, edit the file itself. Otherwise, copy the source to your own folder with `kernel-ladder init`.',
  noSource: 'The session has no source for the rung {rung}.',
  tooMany: 'There are already {count} drafts.',
  discard: 'Discard some drafts, or delete files from {folder}.',
} as const

/** Messages about opening a source line in the user's editor. */
export const editor = {
  unset: 'No editor is set.',
  set: 'Set KERNEL_LADDER_EDITOR to a command that opens a window, such as: {example}',
  noFile: 'The source of {rung} is not in a file on this machine.',
  noFileThen: 'Open the rung’s ladder folder first.',
  notFound: 'The editor {program} was not found.',
  failed: 'The editor {program} exited with code {code}.',
} as const

/** Messages about ladders made from a repository's commits. */
export const commits = {
  noGit: 'git is not installed, so the history of {what} cannot be read.',
  installGit: 'Install git.',
  badRange: '{range} is not a range of commits: write A..B, as in v1..HEAD.',
  noRepository: '{file} is not in a git repository.',
  noCommit: '{name} is not a commit in the repository of {file}.',
  unshallow: 'The clone is shallow and lacks older commits. Run `git fetch --unshallow`.',
  cutOff: 'The range starts before {hash}, the oldest commit in this clone.',
  unreadable: 'git could not list {range}.',
  many: '{range} has {count} commits that changed the source; the limit is {most}.',
  none: 'No commit in {range} changed {file} or its includes.',
  latest: 'The last commit with changes is {commit}.',
  dirty: '{rung} or a header has uncommitted changes, which were not run.',
} as const

/** Semantic errors in a task or ladder. */
export const task = {
  noParameter: '{rung} has no parameter {name}; its parameters are {names}.',
  noParameters: '{rung} has no parameters, so {name} cannot be set.',
  notAllowed: '{name} = {value} is not allowed; the allowed values are {allowed}.',
  taken: '{name} is already the name of another {what}.',
  sizeScalarOption: 'size, scalar or option',
  sizeScalarFlag: 'size, scalar or flag',
  field: 'field of the struct',
  reserved: '{name} cannot be a field of the struct.',
  unknownNames: '{place} uses {names}, but the task has only {known}.',
  noExpression: '{place} is not a valid expression. {text}',
  specialOfWhole: 'Infinities and NaN fill only floating-point buffers, but this one is {dtype}.',
  normalOfWhole: 'normal fills only floating-point buffers, but this one is {dtype}.',
  computedBy: 'Only kl_inputs of a reference.cu can compute an input; add a reference.cu.',
  maskedBy: 'Only a reference.cu can provide a mask; add a reference.cu.',
  pythonFlags: 'A reference in Python does not support flags; use a reference.cu.',
  trustedScale: 'A trusted rung provides no scale; set rtol and atol.',
  trustedFlags: 'Rungs with different flags compute different results; add a reference.cu.',
  noType: '{dtype} is neither a type nor an option of the task; the types are {types}.',
  choiceNoType: '{choice}, a choice of {option}, is not a type.',
  choiceNumber: 'The number of {choice} must be {number}.',
  noFlag: 'There is no flag named {name}.',
  noScalar: 'There is no scalar named {name}.',
  readWhen: 'read_when is allowed only for a buffer with the access inout.',
  outFill: 'An `out` buffer cannot have a fill.',
  noFill: '{name} is read but has no fill.',
  noCheck: '{name} is written but has no check.',
  nothingWritten: 'The task writes no buffer.',
  notWritten: '{name} has a check, but it is not a buffer that the task writes.',
  valueNoField: 'The flag {name} sets `value` or `enum`, so it must also set `field`.',
  noEnum: 'No enum name has the value {value}.',
  noOption: 'There is no option named {name}.',
  noChoice: '{choice} is not a choice of {option}.',
  noSize: 'There is no size named {name}; the sizes are {sizes}.',
  missing: '{name} is missing.',
  noSizes: 'The task has no size.',
  noChoices: 'The option has no choices.',
  at: 'At {at}, {fault}.',
  broken: '{what} is not satisfied',
  notFinite: '{what} is not a finite number',
  negative: '{what} is {value}, but must not be negative',
  notOfType: '{value} is not a valid {dtype}, which is a whole number from {least} to {most}',
  special: 'special is {value}, but it must be 0 or a whole number of lines',
  range: 'hi must be greater than lo, but the range is {lo} to {hi}',
  extent: '{what} is {value}, but an extent must be a whole number of at least 1',
  tooLarge: '{name} is {size} TiB, which is too large',
  permutation: 'a permutation of {count} does not fit in {dtype}',
  noRungToCheck:
    'With these options there is no rung to check this rung against; add a reference.cu.',
  repeatedVariant: 'The name {name} is repeated; give the variant its own name with "as".',
  repeated: 'The name {name} is repeated.',
  noRung: 'There is no rung {rung}; the rungs are {rungs}.',
  afterNone: 'after refers to {rung}, which is not a rung. The rungs are {rungs}.',
  needsType: '{key} compares numbers: set their type with `dtype: f32`.',
  ownOutput: 'The programs write this file themselves; put the expected output in another file.',
  orPrograms: 'A ladder has either a task or programs: remove one of the two keys.',
  labNoBuffer: 'The task {task} reads no buffer named {name}.',
  labFile: 'A lab cannot fill a buffer from a file.',
} as const

/** Missing or invalid parts of a rung's header. */
export const header = {
  afterNone: '@after refers to {rung}, which is not a rung. The rungs are {rungs}.',
  otherName: '{file} declares @rung {rung}; the file must have that name.',
  noKey: 'the header has no key @{key}.',
  keys: 'The keys are: {keys}.',
  lacks: 'the header has no @{key}.',
  addLine: 'Add a line "{line}" to the block at the top.',
  noValue: '@{key} has no value.',
  repeated: '@{key} is repeated; it first appears on line {line}.',
  contains: '@{key} contains {value}, which is not valid.',
  has: '@{key} has the unknown value {value}.',
  anyOf: 'Use any of: {values}.',
  oneOf: 'Use one of: {values}.',
  wordTwice: '@{key} lists a word twice.',
  noId: '@{key} contains {value}, which is not a valid id.',
  writeId:
    'An id consists of letters, digits, "_", "-" and ".", and starts with a letter or a digit.',
  writeExpect:
    'Write metrics followed by up, down or same, separated by commas: "sharedLoads down, fmaUtilization up".',
  noMetric: '@expect uses {metric}, which is not in the metric registry.',
  noMetricMeant: '@expect uses {metric}, which is not in the metric registry. {meant}',
  seeMetrics: 'The metrics are listed in docs/reference/metrics.md.',
  writeParam: 'Write an uppercase name, the default, and all allowed values: {example}.',
  valueTwice: '@param {name} lists an allowed value twice.',
  otherDefault: '@param {name} has the default {value}, which is not among its allowed values.',
  allowed: 'The allowed values are {values}.',
  paramTwice: '@param {name} is repeated.',
  writeRequires: 'Write the minimum architecture as nvcc spells it: "sm_75" or "sm_90a".',
} as const

/** Reasons why main() of a file given to `init --from` did not return. */
export const init = {
  mainCrashed: 'it crashed ({how}){text}',
  mainLacks: 'it calls {name}, which needs a GPU or a library that is not available here',
  mainEndedEarly: 'it ended without returning from main()',
} as const

/** Errors in the `build:` settings of a ladder. */
export const settings = {
  refused:
    '{flag} is not an allowed build flag for rungs; docs/guides/ladders.md lists the allowed flags.',
  otherKey: 'Write {flag} under `{key}` of `build`.',
  oneWord: '"{flag}" has spaces; write one word per entry: {words}.',
  noFlag: '{flag} is not a flag: flags start with "-".',
  value: '{flag} cannot have the value "{value}".',
  leadsOut:
    'The include directory {directory} is outside the folder; write an absolute path, or a path that starts with a $VARIABLE.',
  unset:
    '`build` of the ladder uses {count, plural, one{the environment variable {variables}, which is} other{the environment variables {variables}, which are}} not set.',
  setIt:
    'Set {variables} to the {count, plural, one{correct directory} other{correct directories}}.',
  noDirectory: 'The include directory {directory} does not exist on this machine.',
  undefinedFunction:
    'The rung uses {name} on the GPU, but another file defines it. A rung is built from one file, so include that file.',
  noLibrary: 'The library {library} was not found on this machine.',
  differ: 'The rungs were built with different flags: {a} before, {b} now.',
  none: 'no additional flags',
} as const

/** Messages about precompiled rungs: cubins, PTX, and shared libraries. */
export const compiled = {
  noLaunch: '{file} needs `launch` in its entry: the kernel, its grid, block, and arguments.',
  launchesItself: '`launch` is for a .cubin or .ptx file; {file} launches its kernels itself.',
  noIdea:
    '{file} has no header. Add an `idea` to its entry: one sentence that describes the change.',
  noLibrary: '{file} is not a shared library.',
  noBuild: '{file} is already compiled, so `build` has no effect on it.',
  noCommits:
    '{file} was compiled elsewhere; only commits that contain the source can be run as rungs.',
  amount: '{what} is {value}, but must be a whole number of at least {least}',
  fraction: '{what} is {value}; write f32({what}) or f64({what}) if the kernel expects a fraction',
  noKernels: '{file} has no kernels.',
  noKernel: '{file} has no kernel {kernel}; it has {kernels}.',
  argumentCount:
    'The kernel {kernel} takes {count, plural, one{{count} argument} other{{count} arguments}}, but `launch` has {given}.',
  argumentBytes:
    'Argument {number} of {kernel}, {what}, does not fit: the parameter has {bytes, plural, one{{bytes} byte} other{{bytes} bytes}}.',
  otherArchitecture: '{file} is machine code for sm_{built}, which sm_{gpu} does not execute.',
  unreadable: '{file} is not a usable cubin: {why}',
} as const
