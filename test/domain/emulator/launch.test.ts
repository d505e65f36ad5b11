import { setFlagsFromString } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { addressOf, createDevice } from '../../../src-main/domain/emulator/device'
import { launchBank, runLaunch } from '../../../src-main/domain/emulator/launch'
import type { LaunchOptions } from '../../../src-main/domain/emulator/launch-types'
import type { Extent } from '../../../src-main/domain/emulator/special-registers'
import { assemble } from './assembly'

// Node versions after 20 do not need this V8 flag.
if (process.version.startsWith('v20.')) setFlagsFromString('--experimental-wasm-relaxed-simd')

interface Setup {
  grid?: Extent
  block?: Extent
  shared?: number
  /**
   * Contents of the input buffer, in words. The input buffer's address is the kernel's first
   * parameter.
   */
  input?: number[]
  /**
   * Number of words in the output buffer. The output buffer's address is the kernel's second
   * parameter.
   */
  output?: number
  /** The assembled program. Set `code` to avoid assembling the program again. */
  code?: ReturnType<typeof assemble>
  options?: Partial<LaunchOptions>
}

/**
 * Runs a program with the input address at c[0x0][0x210] and the output address at c[0x0][0x218].
 */
function run(text: string, setup: Setup = {}) {
  const { grid = [1, 1, 1], block = [32, 1, 1], shared = 0, input = [0], output = 32 } = setup
  const device = createDevice()
  const [a, b] = [device.allocate('in', 4 * input.length), device.allocate('out', 4 * output)]
  new Int32Array(device.memory.buffer, a.offset, input.length).set(input)
  const parameters = new BigUint64Array([addressOf(a), addressOf(b)])
  const code = setup.code ?? assemble(text)
  const result = runLaunch(
    device,
    {
      kernel: 'test',
      code,
      grid,
      block,
      sharedBytes: shared,
      localBytes: 16,
      banks: new Map([
        [
          0,
          launchBank({
            architecture: 90,
            grid,
            block,
            parameters: new Uint8Array(parameters.buffer),
            localBytes: 16,
          }),
        ],
      ]),
    },
    { limit: 1e6, checks: false, written: [a], ...setup.options },
  )
  return {
    ...result,
    code,
    out: [...new Int32Array(device.memory.buffer, b.offset, output)],
    count: (mnemonic: string, what: keyof typeof result.counts = 'executed') =>
      code.reduce(
        (sum, each, index) => sum + (each.mnemonic === mnemonic ? result.counts[what][index]! : 0),
        0,
      ),
  }
}

/** Instructions that store R0 to out[thread]. */
const storeR0 = `
  S2R R20, SR_TID.X
  LDC.64 R22, c[0x0][0x218]
  IMAD.WIDE R22, R20, 0x4, R22
  STG.E desc[UR4][R22.64], R0
  EXIT`

const threads = Array.from({ length: 32 }, (_, thread) => thread)

describe('a divergent warp', () => {
  const program = `
  S2R R1, SR_TID.X
  MOV R0, 0x0
  ISETP.GE.AND P0, PT, R1, 0x8, PT
  BSSY B0, .L2
  @P0 BRA .L1
  IADD3 R0, R1, 0x64, RZ
  BRA .L2
.L1:
  IADD3 R0, R1, 0xc8, RZ
.L2:
  BSYNC B0
  IADD3 R0, R0, 0x1, RZ
  ${storeR0}`

  it('executes both sides of a branch and reconverges', () => {
    const { out, count } = run(program)
    expect(out).toEqual(threads.map((thread) => thread + (thread < 8 ? 101 : 201)))
    // Each side of the branch runs separately. The code after the branch runs only once.
    expect(count('STG')).toBe(1)
    expect(count('BRA', 'divergent')).toBe(1)
    expect(count('STG', 'threads')).toBe(32)
  })

  it('counts the lanes that execute each instruction', () => {
    const { counts } = run(program)
    expect(counts.threads[5]).toBe(8)
    expect(counts.threads[7]).toBe(24)
    expect(counts.executed[9]).toBe(1)
  })

  it('counts the lanes that a predicate disables', () => {
    const { counts } = run(`
  S2R R1, SR_TID.X
  MOV R0, 0x5
  ISETP.GE.AND P0, PT, R1, 0x8, PT
  @P0 MOV R0, 0x6
  ${storeR0}`)
    expect([counts.threads[3], counts.on[3]]).toEqual([32, 24])
  })
})

it('a loop with a uniform branch runs in all lanes until the branch condition is false in every lane', () => {
  // nvcc generates the following code for a `cp.async.bulk` that every lane executes.
  const { out, count } = run(`
  UMOV UR5, 0x0
  PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0
.L1:
  @P0 ELECT P1, URZ, PT
  @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0
  PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0
  UIADD3 UR5, UR5, 0x1, URZ
  @P0 BRA.U.ANY .L1
  MOV R0, UR5
  ${storeR0}`)
  expect(out).toEqual(threads.map(() => 32))
  expect([count('UIADD3'), count('STG'), count('BRA', 'divergent')]).toEqual([32, 1, 0])
})

// nvcc emits the form with a pair of registers for sm_75, in loops over an array.
it.each([
  ['alone', 'RZ', 0],
  ['and a pair of registers', 'R2', 3],
])('an atomic reads its address from a pair of uniform registers %s', (_, register, at) => {
  const { out, findings } = run(`
  MOV R0, 0x7
  MOV R2, ${4 * at}
  MOV R3, RZ
  ULDC.64 UR4, c[0x0][0x218]
  ATOMG.E.EXCH.STRONG.GPU PT, RZ, [${register}.64+UR4], R0
  EXIT`)
  expect([out[at], findings.length]).toEqual([7, 0])
})

it('a branch to an address between instructions stops the kernel', () => {
  expect(() => run('  BRA 0x18\n  NOP\n  EXIT')).toThrow('runs off its end')
})

describe('a lock shared by the lanes of a warp', () => {
  /**
   * nvcc compiles `while (atomicCAS(lock, 0, 1) != 0) {} sum += 1; atomicExch(lock, 0);` to this
   * code.
   */
  const program = (yields: string) => `
  LDC.64 R2, c[0x0][0x210]
  LDC.64 R6, c[0x0][0x218]
  BSSY B0, .L2
  MOV R4, 0x0
  MOV R5, 0x1
.L1:
  ${yields}
  ATOMG.E.CAS.STRONG.GPU PT, R0, [R2], R4, R5
  ISETP.NE.AND P0, PT, R0, RZ, PT
  @P0 BRA .L1
.L2:
  BSYNC B0
  LDG.E.STRONG.SYS R0, desc[UR4][R6.64]
  IADD3 R1, R0, 0x1, RZ
  STG.E.STRONG.SYS desc[UR4][R6.64], R1
  ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R2.64], RZ
  EXIT`

  it.each(['YIELD', 'NANOSLEEP 0x8'])(
    'is acquired by each lane, because waiting lanes yield: %s',
    (yields) => {
      const block: Extent = [64, 1, 1]
      const { out, findings, count } = run(program(yields), { block })
      expect(findings).toEqual([])
      expect(out[0]).toBe(64)
      expect(count('STG', 'threads')).toBe(64)
    },
  )

  it('is never released if no waiting lane yields', () => {
    expect(() => run(program('NOP'), { options: { limit: 1e4 } })).toThrow(
      expect.objectContaining({ reason: 'too-long' }),
    )
  })
})

describe('a block barrier', () => {
  const reverse = (barrier: string) => `
  S2R R1, SR_TID.X
  SHF.L.U32 R2, R1, 0x2, RZ
  STS [R2+0x400], R1
  ${barrier}
  IADD3 R3, -R2, 0x1fc, RZ
  LDS R0, [R3+0x400]
  ${storeR0}`

  it("orders the warps' writes and reads", () => {
    const { out, barriers, findings } = run(reverse('BAR.SYNC.DEFER_BLOCKING 0x0'), {
      block: [128, 1, 1],
      shared: 512,
      output: 128,
      options: { checks: true },
    })
    expect(out[0]).toBe(127)
    expect(out[127]).toBe(0)
    expect(barriers).toBe(1)
    expect(findings).toEqual([])
  })

  it('is reported as missing, regardless of which warp runs first', () => {
    const { findings } = run(reverse('NOP'), {
      block: [128, 1, 1],
      shared: 512,
      output: 128,
      options: { checks: true },
    })
    const races = findings.filter(({ kind }) => kind === 'race')
    expect(races).not.toEqual([])
    expect(races[0]).toMatchObject({ block: 0, bytes: 4 })
    expect(new Set(races.flatMap(({ at, other }) => [at, other!.at]))).toEqual(new Set([2, 5]))
  })

  it('stops the kernel if not all warps reach the barrier', () => {
    const program = `
  S2R R1, SR_TID.X
  ISETP.GE.AND P0, PT, R1, 0x20, PT
  @P0 BRA .L1
  BAR.SYNC.DEFER_BLOCKING 0x0, 0x40
.L1:
  BAR.SYNC.DEFER_BLOCKING 0x1, 0x40
  EXIT`
    expect(() => run(program, { block: [64, 1, 1] })).toThrow(
      expect.objectContaining({ reason: 'deadlock' }),
    )
  })

  it('is reported if only part of a warp reaches the barrier', () => {
    const { findings } = run(`
  S2R R1, SR_TID.X
  ISETP.GE.AND P0, PT, R1, 0x10, PT
  @P0 BRA .L1
  BAR.SYNC.DEFER_BLOCKING 0x0
  EXIT
.L1:
  BAR.SYNC.DEFER_BLOCKING 0x0
  EXIT`)
    expect(findings.map(({ kind, thread }) => [kind, thread])).toContainEqual([
      'divergent-barrier',
      0,
    ])
  })
})

describe('invalid accesses', () => {
  it('outside a buffer are reported with the thread, and change no memory', () => {
    const { findings, out } = run(
      `
  MOV R0, 0x7
  ${storeR0}`,
      { output: 30 },
    )
    expect(out).toEqual(Array(30).fill(7))
    expect(findings.map(({ kind, thread, write }) => [kind, thread, write])).toEqual([
      ['outside-global', 30, true],
      ['outside-global', 31, true],
    ])
  })

  it('that are misaligned are reported', () => {
    const { findings } = run(
      `
  LDC.64 R2, c[0x0][0x210]
  LDG.E.64 R4, desc[UR4][R2.64+0x4]
  EXIT`,
      { input: [1, 2, 3, 4] },
    )
    expect(findings[0]).toMatchObject({ kind: 'misaligned', at: 1, bytes: 8 })
  })

  it('to shared memory outside the block are reported', () => {
    const { findings } = run(
      `
  LDS R0, [RZ+0x500]
  EXIT`,
      { shared: 128 },
    )
    expect(findings[0]).toMatchObject({ kind: 'outside-shared', at: 0 })
  })

  it('to uninitialized memory are reported', () => {
    const { findings } = run(
      `
  LDC.64 R2, c[0x0][0x218]
  LDG.E R0, desc[UR4][R2.64]
  LDS R1, [RZ+0x400]
  EXIT`,
      { shared: 128, options: { checks: true } },
    )
    expect(new Set(findings.map(({ kind, at }) => `${kind} ${at}`))).toEqual(
      new Set(['unwritten-global 1', 'unwritten-shared 2']),
    )
  })
})

describe('the reason a kernel stops', () => {
  it('is the instruction limit in an endless loop', () => {
    expect(() =>
      run(`
.L1:
  IADD3 R0, R0, 0x1, RZ
  BRA .L1`),
    ).toThrow(expect.objectContaining({ reason: 'too-long' }))
  })

  it('is an unknown instruction, but only if the kernel reaches it', () => {
    expect(() => run('FROBNICATE R0, R1\n  EXIT')).toThrow(
      expect.objectContaining({ reason: 'unknown-instruction' }),
    )
    expect(run('EXIT\n  FROBNICATE R0, R1').instructions).toBe(1)
  })

  it('is an unsupported form of a known instruction', () => {
    expect(() => run('MUFU.RCP64H R0, R1\n  EXIT')).toThrow(
      expect.objectContaining({ reason: 'unknown-instruction' }),
    )
  })
})

describe('single instructions', () => {
  const bits = (value: number) => new Int32Array(new Float32Array([value]).buffer)[0]!

  it.each([
    ['IADD3 R0, R1, -0x3, RZ', (t: number) => t - 3],
    ['LEA R0, R1, R1, 0x3', (t: number) => 9 * t],
    ['LEA.HI R0, R1, 0x5, RZ, 0x1e', (t: number) => 5 + (t >>> 2)],
    ['LOP3.LUT R0, R1, 0x5, RZ, 0x3c, !PT', (t: number) => t ^ 5],
    ['LOP3.LUT R0, R1, 0x5, 0x9, 0x96, !PT', (t: number) => t ^ 5 ^ 9],
    ['IMAD R0, R1, R1, 0x7', (t: number) => t * t + 7],
    ['IMAD.HI.U32 R0, R1, -0x80000000, RZ', (t: number) => t >>> 1],
    ['SHF.R.S32.HI R0, RZ, 0x1, R1', (t: number) => t >> 1],
    ['PRMT R0, R1, 0x3210, RZ', (t: number) => t],
    ['PRMT R0, R1, 0x0123, RZ', (t: number) => t << 24],
    ['VIADDMNMX R0, R1, 0x1, 0x9, PT', (t: number) => Math.min(t + 1, 9)],
    ['VIMNMX R0, R1, 0x9, !PT', (t: number) => Math.max(t, 9)],
    ['POPC R0, R1', (t: number) => t.toString(2).replaceAll('0', '').length],
    ['FLO.U32 R0, R1', (t: number) => 31 - Math.clz32(t)],
    ['I2FP.F32.S32 R0, R1', (t: number) => bits(t)],
    ['SHFL.BFLY PT, R0, R1, 0x1, 0x1f', (t: number) => t ^ 1],
    ['SHFL.UP PT, R0, R1, 0x4, RZ', (t: number) => (t < 4 ? t : t - 4)],
    ['SHFL.DOWN PT, R0, R1, 0x1, 0x1807', (t: number) => (t % 8 === 7 ? t : t + 1)],
    ['SHFL.IDX PT, R0, R1, 0x3, 0x181f', (t: number) => (t & 24) + 3],
    ['VOTE.ANY R0, PT, P1', () => 0xff],
    ['SEL R0, R1, RZ, P1', (t: number) => (t < 8 ? t : 0)],
    ['S2R R0, SR_LANEID', (t: number) => t],
    ['P2R R0, PR, RZ, 0x2', (t: number) => (t < 8 ? 2 : 0)],
    ['HADD2.F32 R0, -RZ, R1.H0_H0', (t: number) => bits(t * 2 ** -24)],
  ] as [string, (thread: number) => number][])(
    '%s computes the same result as on a GPU',
    (instruction, expected) => {
      const program = `
  S2R R1, SR_TID.X
  ISETP.LT.AND P1, PT, R1, 0x8, PT
  ${instruction}
  ${storeR0}`
      expect(run(program).out).toEqual(threads.map((thread) => expected(thread) | 0))
      const [stepped, compiled] = [Infinity, 0].map(
        (compileAfter) => run(program, { options: { compileAfter } }).out,
      )
      expect(compiled).toEqual(stepped)
    },
  )

  it('propagate a carry from one word to the next', () => {
    const program = (low: string, high: string) => `
  S2R R1, SR_TID.X
  IADD3 R2, R1, -0x10, RZ
  ${low}
  ${high}
  ${storeR0}`
    const sum = run(program('IADD3 R3, P0, R2, 0x8, RZ', 'IADD3.X R0, RZ, RZ, RZ, P0, !PT')).out
    expect(sum).toEqual(threads.map((thread) => (thread >= 8 && thread < 16 ? 1 : 0)))
    const difference = run(
      program('IADD3 R3, P0, R1, -R2, RZ', 'IADD3.X R0, RZ, ~RZ, RZ, P0, !PT'),
    ).out
    // As unsigned 32-bit operations, subtracting a negative number borrows, but subtracting a
    // nonnegative number does not.
    expect(difference).toEqual(threads.map((thread) => (thread < 16 ? -1 : 0)))
  })

  it('execute an atomic addition lane by lane', () => {
    const { out, count } = run(`
  LDC.64 R2, c[0x0][0x218]
  MOV R1, 0x2
  REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R1
  EXIT`)
    expect(out[0]).toBe(64)
    expect(count('REDG', 'sectors')).toBe(1)
  })
})

describe('compiled code', () => {
  /**
   * Returns a random number generator that uses MurmurHash3's finalizer. The same seed always
   * generates the same test program.
   */
  const randomOf = (seed: number) => {
    let state = seed
    return (below: number): number => {
      state = (state + 0x9e3779b9) | 0
      let bits = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
      bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
      return ((bits ^ (bits >>> 16)) >>> 0) % below
    }
  }

  function randomProgram(seed: number): string {
    const random = randomOf(seed)
    const reg = () => (random(12) === 0 ? 'RZ' : `R${random(8)}`)
    const float = () => `${['', '-', '|', '-|'][random(4)]!}${reg()}`
    const closed = (text: string) => (text.includes('|') ? `${text}|` : text)
    const f = () => closed(float())
    const int = () => `${['', '', '-', '~'][random(4)]!}${reg()}`
    const pred = () => `${random(2) === 0 ? '!' : ''}P${random(4)}`
    const ureg = () => `UR${4 + random(3)}`
    const hex = (value: number) => `0x${value.toString(16)}`
    const forms: (() => string)[] = [
      () => `FFMA ${reg()}, ${f()}, ${f()}, ${f()}`,
      () => `FADD ${reg()}, ${f()}, ${f()}`,
      () => `FMUL ${reg()}, ${f()}, ${f()}`,
      () => `IADD3 ${reg()}, ${reg()}, ${int()}, ${int()}`,
      () => `IADD3 ${reg()}, P${random(4)}, ${reg()}, ${random(2) ? '-' : ''}${reg()}, RZ`,
      () => `IADD3.X ${reg()}, ${reg()}, ${reg()}, RZ, ${pred()}, !PT`,
      () => `IMAD ${reg()}, ${reg()}, ${reg()}, ${int()}`,
      () => `IMAD.WIDE R${2 * random(4)}, ${reg()}, ${reg()}, R${2 * random(4)}`,
      () => `IMAD.WIDE.U32 R${2 * random(4)}, ${reg()}, 0x1234, R${2 * random(4)}`,
      () => `IMAD.HI.U32 ${reg()}, ${reg()}, ${reg()}, R${2 * random(4)}`,
      () => `LEA ${reg()}, P${random(4)}, ${reg()}, ${reg()}, ${hex(random(32))}`,
      () => `LEA.HI ${reg()}, ${reg()}, ${reg()}, ${reg()}, ${hex(random(32))}`,
      () => `LEA.HI.X.SX32 ${reg()}, ${reg()}, ${reg()}, ${hex(random(32))}, ${pred()}`,
      () => `SHF.R.U32.HI ${reg()}, RZ, ${hex(random(32))}, ${reg()}`,
      () => `SHF.R.S32.HI ${reg()}, RZ, ${hex(random(32))}, ${reg()}`,
      () => `SHF.L.U64.HI ${reg()}, ${reg()}, ${hex(random(32))}, ${reg()}`,
      () => `SHF.R.U64 ${reg()}, ${reg()}, ${hex(random(32))}, ${reg()}`,
      () =>
        `LOP3.LUT P${random(4)}, ${reg()}, ${reg()}, ${reg()}, ${reg()}, ${hex(random(256))}, !PT`,
      () => `PLOP3.LUT P${random(4)}, PT, ${pred()}, ${pred()}, PT, ${hex(random(256))}, 0x0`,
      () =>
        `ISETP.${['LT', 'LE', 'GT', 'GE', 'EQ', 'NE'][random(6)]!}${random(2) ? '.U32' : ''}.AND P${random(4)}, PT, ${reg()}, ${reg()}, ${pred()}`,
      () =>
        `ISETP.${['LT', 'LE', 'GT', 'GE', 'EQ', 'NE'][random(6)]!}.AND.EX P${random(4)}, PT, ${reg()}, ${reg()}, PT, ${pred()}`,
      () =>
        `FSETP.${['LT', 'LE', 'GT', 'GE', 'EQ', 'LTU', 'GEU', 'NEU'][random(8)]!}.OR P${random(4)}, PT, ${f()}, ${f()}, ${pred()}`,
      () => `SEL ${reg()}, ${reg()}, ${reg()}, ${pred()}`,
      () => `FSEL ${reg()}, ${f()}, ${f()}, ${pred()}`,
      () =>
        `VIMNMX${random(2) ? '.U32' : ''} ${reg()}, ${reg()}, ${reg()}, ${random(2) ? '!' : ''}PT`,
      () => `VIADDMNMX ${reg()}, ${reg()}, ${hex(random(99))}, ${reg()}, PT`,
      () => `IABS ${reg()}, ${reg()}`,
      () => `PRMT ${reg()}, ${reg()}, ${hex(random(65536) & 0x7777)}, ${reg()}`,
      () => `P2R ${reg()}, PR, ${reg()}, ${hex(random(128))}`,
      () => `CS2R R${2 * random(4)}, SRZ`,
      () => `UIADD3 ${ureg()}, UP${random(2)}, ${random(2) ? '-' : ''}${ureg()}, ${ureg()}, URZ`,
      () =>
        `UIADD3.X ${ureg()}, ${random(2) ? '~' : ''}${ureg()}, ${ureg()}, URZ, UP${random(2)}, !UPT`,
      () => `ULEA.HI ${ureg()}, UP${random(2)}, ${ureg()}, ${ureg()}, URZ, ${hex(random(32))}`,
      () => `USHF.R.S64 ${ureg()}, ${ureg()}, ${hex(random(32))}, ${ureg()}`,
      () =>
        `ULOP3.LUT ${ureg()}, ${ureg()}, ${hex(random(2 ** 31))}, URZ, ${hex(random(256))}, !UPT`,
      () => `UISETP.GE.AND UP${random(2)}, UPT, ${ureg()}, ${ureg()}, UPT`,
      () => `IMAD.U32 ${reg()}, RZ, RZ, ${ureg()}`,
      () => `ISETP.GE.U32.AND P${random(4)}, PT, ${reg()}, ${ureg()}, PT`,
      () => `ISETP.GE.AND.EX P${random(4)}, PT, ${reg()}, ${ureg()}, PT, ${pred()}`,
    ]
    const lines = Array.from({ length: 24 }, () => {
      const form = forms[random(forms.length)]!()
      return `  ${random(4) === 0 && !form.startsWith('U') ? `@${pred()} ` : ''}${form}`
    })
    const starts = Array.from(
      { length: 8 },
      (_, index) => `  LDG.E R${index}, desc[UR4][R10.64+${hex(128 * index)}]`,
    )
    const ends = Array.from(
      { length: 8 },
      (_, index) => `  STG.E desc[UR4][R12.64+${hex(128 * index)}], R${index}`,
    )
    return `
  S2R R9, SR_TID.X
  LDC.64 R10, c[0x0][0x210]
  IMAD.WIDE R10, R9, 0x4, R10
  LDC.64 R12, c[0x0][0x218]
  IMAD.WIDE R12, R9, 0x4, R12
  UMOV UR4, 0x3
  UMOV UR5, 0xf4243
  UMOV UR6, 0x0
${starts.join('\n')}
${lines.join('\n')}
${ends.join('\n')}
  EXIT`
  }

  it('matches the interpreter bit by bit, with and without `portable`', () => {
    const special = [0, -0, 1, -1, Infinity, NaN, 2 ** -149, 2 ** -126, 1.5, 3e38, 2 ** -75]
    for (let seed = 1; seed <= 120; seed++) {
      const random = randomOf(seed + 1000)
      const input = Array.from({ length: 256 }, () =>
        random(3) === 0
          ? new Int32Array(new Float32Array([special[random(special.length)]!]).buffer)[0]!
          : random(3) === 0
            ? random(64) - 32
            : (random(2 ** 32) & 0x87ffffff) | 0x38000000,
      )
      const program = randomProgram(seed)
      const stepped = run(program, {
        input,
        output: 256,
        options: { compileAfter: Infinity },
      })
      for (const portable of [false, true]) {
        const options = { portable, compileAfter: 0 }
        const compiled = run(program, { input, output: 256, options })
        const which = `seed ${seed}, portable: ${portable}`
        expect(compiled.out, `${which}\n${program}`).toEqual(stepped.out)
        expect([...compiled.counts.on], which).toEqual([...stepped.counts.on])
        expect([...compiled.counts.sectors], which).toEqual([...stepped.counts.sectors])
      }
    }
  })

  it('is compiled only once for all launch sizes and addresses', () => {
    const program = `
  S2R R1, SR_CTAID.X
  LDC R2, c[0x0][0xc]
  LDC.64 R4, c[0x0][0x210]
  IMAD.WIDE R4, R1, 0x4, R4
  LDG.E R0, desc[UR4][R4.64]
  @P0 IADD3 R0, R0, 0x64, RZ
  IMAD R0, R0, c[0x0][0xc], R2
  ${storeR0}`
    const { Module } = WebAssembly
    let modules = 0
    class CountedModule extends Module {
      constructor(bytes: Uint8Array<ArrayBuffer>) {
        super(bytes)
        modules++
      }
    }
    Object.assign(WebAssembly, { Module: CountedModule })
    try {
      const { code } = run(program)
      const options = { portable: true, compileAfter: 0 }
      const made = [1, 3, 700].map((blocks) => {
        const before = modules
        const input = Array.from({ length: blocks }, (_, block) => 7 * block)
        const { out } = run('', { code, input, grid: [blocks, 1, 1], options })
        expect(out).toEqual(threads.map(() => 7 * (blocks - 1) * blocks + blocks))
        return modules - before
      })
      expect(made).toEqual([1, 0, 0])
    } finally {
      Object.assign(WebAssembly, { Module })
    }
  })

  it.each([
    '1684.F32.TF32',
    '1688.F32.TF32',
    '1688.F32',
    '1688.F32.BF16',
    '16816.F32',
    '16816.F32.BF16',
  ])('multiplies matrices like the interpreter: HMMA.%s', (form) => {
    const loads = Array.from(
      { length: 12 },
      (_, index) => `  LDG.E R${index}, desc[UR4][R30.64+0x${(128 * index).toString(16)}]`,
    )
    const stores = Array.from(
      { length: 8 },
      (_, index) =>
        `  STG.E desc[UR4][R32.64+0x${(128 * index).toString(16)}], R${index < 4 ? 12 + index : index - 4}`,
    )
    // The second HMMA instruction overwrites A.
    const program = `
  S2R R29, SR_TID.X
  LDC.64 R30, c[0x0][0x210]
  IMAD.WIDE R30, R29, 0x4, R30
  LDC.64 R32, c[0x0][0x218]
  IMAD.WIDE R32, R29, 0x4, R32
${loads.join('\n')}
  HMMA.${form} R12, R0, R4, R8
  HMMA.${form} R0, R0, R4, RZ
${stores.join('\n')}
  EXIT`
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomOf(seed)
      // The input words are random bits, or numbers near 1 both as floats and as halves.
      const input = Array.from({ length: 384 }, () =>
        seed % 4 === 0 ? random(2 ** 32) | 0 : (random(2 ** 32) & 0x87ff87ff) | 0x38003800,
      )
      const compiled = run(program, { input, output: 256, options: { compileAfter: 0 } })
      const stepped = run(program, { input, output: 256, options: { compileAfter: Infinity } })
      expect(compiled.out, `seed ${seed}`).toEqual(stepped.out)
      expect(new Set(compiled.out).size).toBeGreaterThan(10)
    }
  })
})
