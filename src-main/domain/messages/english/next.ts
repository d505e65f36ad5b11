/** Recommendations for the next change to a kernel: each move, its cost, and its evidence. */
export const next = {
  coalesce:
    'Let neighboring threads access neighboring elements, so that a warp fills the sectors that it fetches.',
  coalesceCosts:
    'Usually swaps two indices, or changes the layout of the data. It needs no registers.',
  vectorize: 'Load and store 16 bytes per thread at a time, as float4 or uint4.',
  vectorizeCosts:
    'Needs 16-byte-aligned addresses, code for the rest of a row, and three more registers per load in flight.',
  sharedTile:
    'Copy a tile into shared memory once per block, and let all threads reuse it from there.',
  sharedTileCosts: 'Costs shared memory for the tiles and two barriers per step.',
  registerTile:
    'Compute a tile of results per thread or warp, so that each value that is loaded feeds several operations.',
  registerTileCosts: 'Costs one register per result and lowers occupancy.',
  pad: 'Pad the rows of the tile in shared memory, or swizzle its columns, so that a warp reads different banks.',
  padCosts:
    'Padding costs a few bytes per row of shared memory; a swizzle costs one XOR per address.',
  prefetch:
    'Load the next tile into registers while the current tile is computed, with a second buffer in shared memory.',
  prefetchCosts:
    'Costs registers for a tile in flight and twice the shared memory; saves one barrier per step.',
  asyncCopy:
    'Use cp.async, or TMA on Hopper and later, to load tiles directly into shared memory several stages ahead.',
  asyncCopyCosts:
    'Costs shared memory for each stage. cp.async needs compute capability 8.0. TMA needs 9.0 and rows that start at multiples of 16 bytes.',
  barriers:
    'Wait less at barriers: remove some, synchronize one or two warps instead of the block, or arrive early and wait late.',
  barriersCosts: 'Costs no resources. Check the kernel with racecheck afterwards.',
  moreWork:
    'Give each thread several independent elements, and issue all of its loads before the first use.',
  moreWorkCosts: 'Costs registers for the elements in flight and reduces the number of blocks.',
  shuffle:
    'Exchange values between the lanes of a warp by shuffle instead of through shared memory.',
  shuffleCosts: 'Saves shared memory and barriers. Works only within a warp.',
  aggregateAtomics:
    'First add up within a block, in shared memory or by shuffle, and then update global memory once per block.',
  aggregateAtomicsCosts: 'Costs shared memory for the partial results of a block.',
  divergence:
    'Assign work so that whole warps are busy or idle: neighboring threads take the same path.',
  divergenceCosts:
    'Changes the assignment of work to threads. Check that bank conflicts do not rise.',
  addressing:
    'Compute fewer addresses: advance pointers by a constant, hoist loop invariants, and use 32-bit offsets.',
  addressingCosts: 'Costs a few registers for the hoisted values.',
  unroll: 'Unroll the loop with a trip count known at compile time.',
  unrollCosts:
    'Costs registers and instruction cache; needs sizes as template parameters or macros.',
  occupancyUp:
    'Let more warps reside on an SM: limit registers with __launch_bounds__, or use less shared memory per block.',
  occupancyUpCosts: 'Costs registers per thread. Watch for spills.',
  occupancyDown:
    'Use more registers per thread and fewer warps: a larger tile per thread, or a higher register limit.',
  occupancyDownCosts:
    'Costs occupancy. A kernel that hides latency within each thread does not need high occupancy.',
  largerBlocks:
    'Use blocks of 128 threads or more. The number of blocks per SM is limited, so small blocks leave an SM partly empty.',
  largerBlocksCosts: 'Costs nothing, unless the threads of a block share data.',
  blockShape: 'Try other block shapes and sizes with tune: smaller blocks wait less at barriers.',
  blockShapeCosts: 'Costs only the tuning; smaller tiles have less reuse.',
  blocks:
    'Change the number of blocks: enough to fill every SM, or as many as fit at once, with a loop over the rest.',
  blocksCosts:
    'May need one block or warp per row instead of one thread, plus a reduction over the threads of each row.',
  splitK:
    'Divide the sum of each result among several blocks or warps, and add their partial results.',
  splitKCosts:
    'Costs memory for the partial results and a second pass; the order of the additions changes.',
  persistent:
    'Keep one block per SM resident and let it compute tile after tile. The next tile then loads while the previous one is stored.',
  persistentCosts:
    'Needs a loop over tiles and barriers that outlive a tile. Saves the startup and the tail of each block.',
  l2Order:
    'Change the order of the blocks, so that concurrent blocks share rows and columns in L2.',
  l2OrderCosts: 'Costs a few integer operations per block.',
  eviction:
    'Control L2 eviction: evict results first and shared inputs last, with cache hints on loads and stores.',
  evictionCosts: 'Needs compute capability 8.0. Costs no resources.',
  tensorCores:
    'Multiply on the tensor cores, with the instructions that run at their full rate: WGMMA on Hopper, mma.sync before it.',
  tensorCoresCosts:
    'Needs types that tensor cores support (TF32, BF16, FP16, FP8) and tiles in their layout. FP32 inputs lose precision unless they are split.',
  precision: 'Store or multiply in fewer bits, if the result allows it.',
  precisionCosts: 'Changes the result. Compare its error with what the task allows.',
  onePass:
    'Read and compute each element once: keep it in registers or shared memory between passes, or update the result as elements arrive.',
  onePassCosts: 'Costs registers or shared memory for the kept elements; long rows may not fit.',
  fuse: 'Fuse the kernels, so that the second kernel does not read the first kernel’s results back from memory.',
  fuseCosts:
    'The combined kernel needs the registers of both kernels. Fusion across blocks needs flags or a last block that finishes the work.',
  specialize:
    'Give warps roles: one producer keeps the copies going while the other warps only compute.',
  specializeCosts:
    'Costs barriers per stage and a warpgroup that computes nothing. The producer warpgroup needs setmaxnreg to give registers to the other warpgroups.',
  overlap:
    'Overlap the end of one tile with the start of the next: store results or compute the softmax while the tensor cores multiply.',
  overlapCosts: 'Costs registers or shared memory for results that are not stored yet.',
  cluster:
    'Form clusters: each block fetches one part of a shared tile and multicasts that part to the cluster.',
  clusterCosts:
    'Needs compute capability 9.0 and TMA. The blocks of a cluster wait for each other.',
  library: 'Call the library instead: it is faster than this kernel at this size.',
  libraryCosts:
    'Replaces the kernel. Operations that the library does not fuse need separate kernels.',

  counter: '{metric}: {value}.',
  waiting: 'Warps spend {share} of their time waiting {what}.',
  rereads: 'L1 transfers {factor} the bytes that the task must move.',
  trafficOver: 'Memory traffic is {factor} the minimum for the task.',
  workOver: 'The kernel executes {factor} the operations that the task requires.',
  unitBusy: '{unit} is busy for {share} of the launch.',
  fmasPerLoad: 'Each load from shared memory feeds {count} FMAs per thread.',
  conflictShare: '{share} of the passes through shared memory are caused by bank conflicts.',
  throughRegisters: 'Tiles pass through registers on their way into shared memory.',
  onlyCpAsync: 'Threads copy or store the tiles, although TMA could.',
  lanes: '{share} of the lanes are active in an average instruction.',
  spills: 'Registers spill {bytes} bytes per thread to local memory.',
  threads: 'Blocks have {threads} threads.',
  spread: 'SMs have a block for {share} of the time.',
  lastWave: 'The waves of blocks are {share} full on average.',
  kernels: 'The rung launches {kernels} kernels.',
  neighbors:
    'The program launches {kernels} kernels. If one kernel reads what the previous one wrote, fusing them avoids that memory traffic.',
  reference: 'The reference is {ratio} as fast.',
  traced: '{share} of the samples wait at {at} for the result of {producer}.',
  instruction: '{opcode}',
  instructionAt: '{opcode} (line {line})',

  atLimit: 'At the limit of {unit} ({busy}). {remedy}',
  nearLimit: 'Near the limit of {unit} ({busy}).',
  byLatency: 'No unit is near its limit; the busiest is {unit} ({busy}). Latency is the limit.',
  idleSms: 'SMs have a block for only {share} of the time: there are too few blocks.',
  unknownLimit: 'The counters that would show the limit were not collected.',
  ofBandwidth: '{share} of {bandwidth}',
  ofLaunch: '{launch} of the launch, {active} while SMs have a block',
  belowRecord: '{busy}; highest recorded: {record}',
  fewerBytes: 'Only fewer bytes would help.',
  fewerAccesses: 'Only fewer or wider accesses would help.',
  lessArithmetic: 'Only less arithmetic, or faster instructions for it, would help.',
  fewerSlots: 'Only fewer instructions would help.',

  noRung: 'No rung of this session has a time.',
  nameRung: 'Specify a rung, or measure or predict the session first.',
  notOk: 'No advice for a rung that is {status}: make it correct first.',
  wholeProgram:
    'There is no advice for a rung that is a whole program. Profile the program to see its kernels.',
  emulated: 'An emulated session has counters but no time. Predict or measure the time first.',
  ofLibrary:
    'The kernel belongs to a library. Fuse the kernel with its neighbors, call the library with other types, or replace the kernel.',
  noTime: 'The rung has no time.',
  noCounters: 'The rung has no counters. Run the rung with --profile standard.',
  cardOnly:
    'The card profile has too few counters for advice. Run the rung with --profile standard.',
  contradiction: 'The counters contradict each other, so no advice is possible.',
  ofProgram:
    'The kernel takes {share} of the {total} that the program spends in kernels. With this change, the kernels would take {after}.',
} as const

/** Labels of the waterfall chart's bars between the old and the new time. */
export const path = {
  work: 'work of the limiting unit',
  instructions: 'instructions',
  busy: 'unit utilization',
  sms: 'SMs with a block',
  clock: 'clock',
  launches: 'launches',
  active: 'active cycles',
  unexplained: 'not explained',
} as const
