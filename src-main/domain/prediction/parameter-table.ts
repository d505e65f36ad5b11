/**
 * The parameters of the timing model, with their meaning, unit and plausible range. A parameter
 * file (`resources/gpus`) contains a value for each parameter. The microbenchmarks in
 * `cuda-kernels/calibrate` measure these values.
 */

interface ParameterRow {
  readonly unit:
    | 'MHz'
    | 'cycles'
    | 'cycles/instruction'
    | 'B/cycle'
    | '1/cycle'
    | 'B'
    | 'ratio'
    | 'count'
  /** Smallest and largest value allowed in a parameter file. */
  readonly range: readonly [number, number]
  /** Meaning of the parameter, in one line. */
  readonly about: string
}

const row = (
  unit: ParameterRow['unit'],
  low: number,
  high: number,
  about: string,
): ParameterRow => ({ unit, range: [low, high], about })

const perInstruction = (about: string): ParameterRow => row('cycles/instruction', 0.25, 256, about)
const latency = (about: string): ParameterRow => row('cycles', 1, 4000, about)

export const parameterTable = {
  smCount: row('count', 1, 1024, 'Streaming multiprocessors'),
  clockMHz: row('MHz', 200, 5000, 'SM clock under load without tensor cores'),
  clockTensorMHz: row('MHz', 200, 5000, 'SM clock with all tensor cores busy, at the power cap'),

  launchCycles: row(
    'cycles',
    0,
    50_000,
    'A launch of an empty kernel of one block, without the timer',
  ),
  launchGapCycles: row('cycles', 0, 50_000, 'Each further launch behind another in one stream'),
  blockCycles: row(
    'cycles',
    0,
    10_000,
    'From the end of a block to the first instruction of the next one in its place',
  ),
  blocksPerCycle: row('1/cycle', 0.01, 16, 'Blocks that the whole GPU starts per cycle'),

  pipeAlu: perInstruction('Integer and logic instructions: interval on a sub-core'),
  pipeFma: perInstruction('FFMA, FMUL, FADD'),
  pipeImad: perInstruction('IMAD and its forms of 32 bits'),
  pipeImadWide: perInstruction('IMAD.WIDE and IMAD.HI'),
  pipeFp16: perInstruction('HFMA2, HADD2, HMUL2'),
  pipeFp64: perInstruction('DFMA, DADD, DMUL'),
  pipeXu: perInstruction('MUFU and conversions'),
  pipeLsu: perInstruction('LD, ST, shuffles and other instructions of the load/store unit'),
  pipeConstant: row(
    'cycles/instruction',
    0.25,
    256,
    'LDC and indexed constants: cycles of an SM per distinct address',
  ),
  pipeUniform: perInstruction('Instructions of the uniform datapath'),
  pipeBranch: perInstruction('Branches and other control flow'),
  pipeHmma: perInstruction(
    'HMMA.16816 with 32-bit accumulators; others in proportion to their work',
  ),
  pipeImma: perInstruction('IMMA.16832.S8'),
  pipeDmma: perInstruction('DMMA.884'),
  hgmmaMacsPerCycle: row('1/cycle', 64, 65_536, 'Multiply-adds of 16-bit WGMMA per cycle and SM'),
  hgmmaLeastCycles: row('cycles', 1, 1000, 'The smallest WGMMA: its interval on an SM'),

  latencyShared: latency('LDS of 32 bits'),
  latencySharedWide: row('cycles', 0, 100, 'Each additional 32 bits of LDS per lane'),
  latencyLdsm: latency('LDSM.x4'),
  latencyL1: latency('LDG that hits L1'),
  latencyL2: latency('LDG that hits L2'),
  latencyDram: latency('LDG from DRAM, unloaded'),
  latencyConstant: latency('LDC that hits its cache'),
  latencyConstantMiss: latency('The first access of a constant line'),
  latencyXu: latency('MUFU and conversions'),
  latencyFp64: latency('DFMA'),
  latencySpecial: latency('S2R'),
  latencyShuffle: latency('SHFL'),
  latencyHmma: latency('HMMA.16816, dependent'),
  latencyHgmma: latency('The smallest WGMMA, from issue to the end of its wait'),
  latencyBarrier: latency('BAR.SYNC of one warp'),
  barrierPerWarp: row('cycles', 0, 100, 'Each additional warp of a BAR.SYNC'),
  latencyMbarrier: latency('SYNCS: arrive or a successful try_wait'),
  latencyBulkCopy: latency('A bulk copy (TMA) of one small tile from L2'),
  latencyAtomicShared: latency('ATOMS'),
  latencyAtomicGlobal: latency('ATOMG of one address'),
  branchTaken: row('cycles', 0, 100, 'Cycles that a taken branch adds to its stall count'),

  l1WavefrontsPerCycle: row(
    '1/cycle',
    0.1,
    8,
    'Wavefronts of the L1 and shared-memory data stage, per SM',
  ),
  l1TagsPerCycle: row('1/cycle', 0.1, 16, 'Tags (128-byte lines) looked up per cycle and SM'),
  lsuQueue: row(
    'count',
    1,
    256,
    'Memory instructions queued per sub-core before issue stops, all sub-cores busy',
  ),
  l1Bytes: row('B', 2 ** 14, 2 ** 20, 'L1 and shared memory of an SM together'),
  l1MissBytesPerCycle: row('B/cycle', 1, 1024, 'From L2 into one SM'),
  storeBytesPerCycle: row('B/cycle', 1, 1024, 'From one SM into L2'),

  l2Bytes: row('B', 2 ** 18, 2 ** 30, 'L2 that one SM can use without replication'),
  l2RequestsPerCycle: row('1/cycle', 0.5, 4096, 'L2 requests of the whole GPU'),
  l2BytesPerCycle: row('B/cycle', 16, 65_536, 'L2 reads of the whole GPU'),
  l2StoreRequestsPerCycle: row('1/cycle', 0.5, 4096, 'L2 requests of stores of the whole GPU'),
  l2StoreBytesPerCycle: row('B/cycle', 16, 65_536, 'L2 writes of the whole GPU'),
  l2SharedBytesPerCycle: row(
    'B/cycle',
    16,
    65_536,
    'L2 reads of lines that many SMs read at a time',
  ),
  dramBytesPerCycle: row('B/cycle', 4, 16_384, 'DRAM reads of the whole GPU'),
  dramWriteBytesPerCycle: row('B/cycle', 4, 16_384, 'DRAM writes of the whole GPU'),
  dramCopyBytesPerCycle: row(
    'B/cycle',
    4,
    16_384,
    'Sum of DRAM reads and writes if both are equal',
  ),
  dramLoadedLatency: row('ratio', 0, 10, 'Share of DRAM latency added at full load'),
  partialWriteCost: row(
    'ratio',
    1,
    8,
    'DRAM traffic of a partly written sector over its own bytes',
  ),

  atomicSameAddress: row(
    'cycles',
    0.01,
    1000,
    'Integer atomics on one address, per lane, GPU-wide',
  ),
  atomicSameAddressFloat: row(
    'cycles',
    0.01,
    1000,
    '32-bit float atomics on one address, per lane, GPU-wide',
  ),
  atomicSameLine: row(
    'cycles',
    0.01,
    1000,
    'Atomics on random words of one line, per lane, GPU-wide',
  ),
  atomicLineRequest: row(
    'cycles',
    0.01,
    1000,
    'Requests of a few lanes to random words of one line, per request',
  ),
  atomicRequestsPerCycle: row(
    '1/cycle',
    0.1,
    4096,
    'Requests of atomics on distinct sectors, GPU-wide',
  ),
  atomicSharedConflict: row('cycles', 0, 100, 'Each additional lane of ATOMS on one address'),
  atomicsPerCycle: row('1/cycle', 0.1, 65_536, 'Lane atomics on whole lines, GPU-wide'),

  instructionCacheBytes: row('B', 2 ** 12, 2 ** 22, 'L1.5 instruction cache'),
  instructionMissCycles: latency('First execution of straight-line code, per 128-byte line'),
} as const satisfies Record<string, ParameterRow>

export type ParameterId = keyof typeof parameterTable
export type ParameterValues = Readonly<Record<ParameterId, number>>
