/** What the emulator says: what it cannot do, why a rung stopped, what it will take. */
export const emulation = {
  counted: 'An emulator counted these; no GPU was used. Samples and stalls need one.',
  notEmulated:
    'The emulator counts what code and shape determine; this depends on the time that a GPU takes.',
  copiesPastL1: 'It copies past L1, and no rule is known for how many sectors L1 counts then.',
  announced:
    'About {instructions} million warp instructions for {rungs} rungs, about {seconds} s on {threads} threads.',
  tooLarge:
    'At {at}, {rung} would execute about {instructions} million warp instructions; the most is {most} million.',
  trySizes: 'The largest such size that fits is {at}.',
  tooMuchMemory: '{rung} needs {gib} GiB of GPU memory; the emulator has {most} GiB.',
  noArchitecture:
    'The emulator knows no machine code of compute capability {computeCapability}, which {gpu} has.',
  architectures: 'It has compute capability 7.5 to 9.0: {gpus}.',
  otherArchitecture:
    'The rules of memory accesses were measured on compute capability 9.0; how {computeCapability} differs is not known.',
  notVerifiedAt:
    '{rung} was not verified at {at}, which would take about {instructions} million warp instructions.',
  about:
    'Emulated for {gpu} at {at}: results and counts are exact, times are not known. Expected results are from {reference}.',
  fromHost: 'the reference on this machine',
  fromEmulated: 'the reference, emulated as well',
  fromRung: 'the rung {rung}, emulated as well',
  unknownInstruction: 'The emulator does not know {instruction}{where}, so it stopped there.',
  callsOut:
    'It calls a function outside of its kernel{where}, such as malloc or one of another file, which is not emulated.',
  illegalAddress: 'It accesses memory outside its buffers{where}.',
  tooLong: 'It was stopped after {limit} million warp instructions{where}: does it end?',
  deadlock: 'Block {block} waits forever{where}: a barrier that some of its threads never reach.',
  memory: 'It needs more memory than the emulator has: {detail}.',
  assert: 'Assertion `{what}` failed{where}, thread {thread} of block {block}.',
  stack:
    'Its calls need more than the {bytes} bytes of stack that a thread has{where}, thread {thread} of block {block}: recursion that is too deep, or a limit to raise (cudaDeviceSetLimit, cudaLimitStackSize).',
  printed: '{rung}, thread {thread} of block {block}: {text}',
  printedMore: '{rung} printed {count} times more.',
  trap: 'It stopped itself{where}: {detail}.',
  fault: '{what}{where}, thread {thread} of block {block}.',
  faults: '{count} faults. The first: {first}',
  place: ' ({file}:{line})',
  placeAt: ' (at {address} of {kernel})',
  notLaunched: 'Its launches are not known: {why}',
  noMachineCode: 'Its library has no machine code for the emulator.',
  referenceUnusable: 'The reference cannot be used here: {why}',
  referenceNaN: 'The reference leaves {place} NaN, or does not write it.',
  noFile: '{path} is not a .npy file of {bytes} bytes of data.',
  unknownType: 'The emulator cannot fill a buffer of the type {dtype}.',
} as const
