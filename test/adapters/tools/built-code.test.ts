/** Tests the path from an nvcc-built library to a rung's page, as in a static run. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { liveToolbox } from '../../../src-main/adapters/tools/live-toolbox'
import { DeepProfile, lineHeat, sassOfLine } from '../../../src-main/domain/session/deep'
import { packedRow } from '../../captures'
import { said } from '../../support'
import { staticProfile } from '../../../src-main/domain/sass/static-profile'
import { launchedKernels, readBuiltCode } from '../../../src-main/adapters/tools/built-code'
import { recordedToolbox } from '../../../src-main/adapters/tools/recorded-toolbox'

const kept = packedRow('cubins.jsonl', 'kernels.so')
const toolbox = liveToolbox(null)
const source = kept.source.split('\n')
const lineOf = (text: string): number => source.findIndex((line) => line.includes(text)) + 1

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'kl-built-')), name)
  await writeFile(path, content)
  return path
}
const library = await file('rung.so', kept.bytes)
const launches = [
  { mangled: '_Z5plainPfy', name: 'plain' },
  { mangled: '_Z10everythingPficd', name: 'everything' },
  { mangled: '_Z5plainPfy', name: 'plain' },
]

describe("a built rung's page", () => {
  it('has one kernel per launch, with instructions and lines but no counters', async () => {
    const built = await readBuiltCode(toolbox, library)
    const profile = staticProfile('01_x', launchedKernels(built!, launches)!, (path) =>
      path.replace('/tmp/kernels/', 'gemm/'),
    )
    expect(DeepProfile.parse(profile)).toEqual(profile)
    expect(profile.kernels.map(({ name }) => name)).toEqual(['plain', 'everything', 'plain'])
    expect(said(profile.notes)).toEqual([
      'These instructions are from the build only: nothing was run, so nothing was counted.',
    ])
    const [plain, everything] = profile.kernels
    expect(plain!.instructions[0]).toMatchObject({
      index: 0,
      offset: 0,
      text: 'IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]',
      file: 'gemm/kernels.cu',
      line: lineOf('__global__ void plain'),
      executed: null,
    })
    expect(everything!.instructions.map(({ text }) => text).join('\n')).not.toContain('reuse')
    const squares = sassOfLine(profile, 'gemm/kernels.cu', lineOf('x * x + 1'))
    expect(squares.length).toBeGreaterThan(0)
    expect(squares[0]!.instruction.inlinedFrom!.map(({ line }) => line)).toContain(
      lineOf('inlined(local[n])'),
    )
    expect(lineHeat(profile, 'executed')).toEqual([])
  })

  it('marks an unknown instruction, and shows all other instructions', async () => {
    const built = await readBuiltCode(toolbox, library)
    const [kernel] = launchedKernels(built!, launches.slice(0, 1))!
    const code = kernel!.code.code.slice()
    // Write an opcode that no supported architecture has.
    code.set([0xff, 0x7f], 32)
    const { kernels, notes } = staticProfile(
      '01_x',
      [{ ...kernel!, code: { ...kernel!.code, code } }],
      (path) => path,
    )
    expect(kernels[0]!.instructions[2]).toMatchObject({ text: 'UNKNOWN', opcode: 'UNKNOWN' })
    expect(kernels[0]!.instructions[3]!.text).not.toBe('UNKNOWN')
    expect(said(notes).join(' ')).toMatch(/Unknown instruction at 0x20: 0x[0-9a-f]{28}7fff\./)
  })

  it('does not exist for a kernel that is not in the library', async () => {
    const built = await readBuiltCode(toolbox, library)
    expect(launchedKernels(built!, [{ mangled: '_Z5otherv', name: 'other' }])).toBeNull()
  })

  it('is replaced by an error message if the library is damaged', async () => {
    const bytes = Buffer.from(kept.bytes)
    // Damage the first cubin in the library.
    bytes[bytes.indexOf(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0x41])) + 58] = 1
    await expect(readBuiltCode(toolbox, await file('rung.so', bytes))).rejects.toThrow(
      'The machine code is damaged: the ELF header cannot be read.',
    )
  })

  it('does not exist in a replay or without a valid library', async () => {
    expect(await readBuiltCode(recordedToolbox('/nowhere'), library)).toBeNull()
    expect(await readBuiltCode(toolbox, '/nowhere/rung.so')).toBeNull()
    expect(await readBuiltCode(toolbox, await file('rung.so', 'text'))).toBeNull()
  })
})
