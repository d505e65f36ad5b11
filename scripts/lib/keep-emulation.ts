/**
 * Creates a capture for the emulator's tests from a session with deep profiles. Compiling the rungs
 * again with the recorded flags yields the same machine code. The probe then reports the rungs'
 * launches.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { instructionsOf } from '../../src-main/domain/emulator/rung'
import type { FillRule } from '../../src-main/domain/emulator/fills'
import { readCubin } from '../../src-main/parsers/cubin/cubin'
import {
  captureFile,
  type Capture,
  type CapturedBuffer,
  type CapturedRung,
} from '../../test/emulated-captures'
import { pack } from '../../test/captures'
import { cubinsOf } from '../../src-main/parsers/cubin/fat-binary'
import { parseProbedLaunches } from '../../src-main/parsers/cuda/launch-probe'

interface Recorded {
  key: string
  argv: string[]
}

interface DeepInstruction {
  executed: number | null
  threadExecuted: number | null
  sharedWavefronts: number | null
  sharedWavefrontsIdeal: number | null
  globalL1Requests: number | null
  globalL2Sectors: number | null
  globalL2SectorsIdeal: number | null
}

const columns = [
  'executed',
  'threadExecuted',
  'sharedWavefronts',
  'sharedWavefrontsIdeal',
  'globalL1Requests',
  'globalL2Sectors',
  'globalL2SectorsIdeal',
] as const

/** Returns the values of every occurrence of `option`. */
const valuesOf = (argv: readonly string[], option: string): string[] =>
  argv.flatMap((word, index) => (word === option ? [argv[index + 1]!] : []))

/** Returns the arguments that follow each `--case`, up to the next `--case`. */
function casesOf(argv: readonly string[]): Map<string, string[]> {
  const cases = new Map<string, string[]>()
  let words: string[] = []
  for (const [index, word] of argv.entries()) {
    if (word === '--case') cases.set(argv[index + 1]!, (words = []))
    words.push(word)
  }
  return cases
}

const elementBytes: Record<string, number> = {
  f64: 8,
  i64: 8,
  u64: 8,
  f16: 2,
  bf16: 2,
  i16: 2,
  u16: 2,
  i8: 1,
  u8: 1,
}

function fillOf(text: string | undefined): FillRule | null {
  if (text === undefined) return null
  const [kind, first, second] = text.split(',')
  const [a, b] = [Number(first), Number(second)]
  if (kind === 'uniform') return { kind, low: a, high: b }
  if (kind === 'normal') return { kind, mean: a, deviation: b }
  if (kind === 'constant') return { kind, value: a }
  if (kind === 'zero') return { kind: 'constant', value: 0 }
  if (kind === 'iota' || kind === 'permutation') return { kind }
  throw new Error(`A fill like ${text} is not kept.`)
}

function buffersOf(words: readonly string[]): CapturedBuffer[] {
  const described = new Map(
    valuesOf(words, '--buffer').map((word) => {
      const [name, dtype, , shape, fill] = word.split(':')
      const count = shape!.split('x').reduce((product, extent) => product * Number(extent), 1)
      return [name!, { dtype: dtype!, count, fill: fillOf(fill) }] as const
    }),
  )
  const streams = new Map(
    valuesOf(words, '--stream').map((word) => word.split(':') as [string, string]),
  )
  return valuesOf(words, '--field').flatMap((word) => {
    const [, what, name] = word.split(':')
    if (what !== 'buffer') return []
    const { dtype, count, fill } = described.get(name!)!
    return [
      {
        name: name!,
        dtype,
        bytes: count * (elementBytes[dtype] ?? 4),
        fill,
        stream: Number(streams.get(name!) ?? 0),
      },
    ]
  })
}

interface DeepPage {
  kernels: { name: string; instructions: DeepInstruction[] }[]
}

/** Arguments that describe an H200 to the probe. */
const gpuWords = [
  ...['--sm', '90', '--sms', '132', '--shared-optin', '232448', '--shared-per-sm', '233472'],
  ...['--threads-per-sm', '2048', '--blocks-per-sm', '32'],
]

/** Replaces the compile folder in line tables with a placeholder of the same length. */
const withoutFolder = (cubin: Uint8Array, folder: string): Buffer =>
  Buffer.from(
    Buffer.from(cubin)
      .toString('latin1')
      .replaceAll(
        resolve(folder),
        '/session'.padEnd(resolve(folder).length, '-').slice(0, resolve(folder).length),
      ),
    'latin1',
  )

function keepRung(
  id: string,
  session: string,
  recorded: readonly Recorded[],
  folder: string,
  probe: string,
): { rung: CapturedRung; seed: number } | null {
  const compiled = recorded.find(({ key }) => key === `nvcc/${id}`)
  const measured = recorded.find(
    ({ key, argv }) =>
      key.startsWith('runner/measure') && argv.some((word) => word.startsWith(`${id}=`)),
  )
  if (!compiled || !measured) return null
  const library = join(folder, `${id}.so`)
  const flags = compiled.argv.slice(1, compiled.argv.indexOf('-o'))
  execFileSync('nvcc', [...flags, '-cudart', 'none', '-o', library], {
    cwd: join(session, 'sources'),
    stdio: 'pipe',
  })
  const cases = casesOf(measured.argv)
  const word = valuesOf(measured.argv, '--rung').find((each) => each.startsWith(`${id}=`))!
  const caseName = /@([^@/]+)$/.exec(word)?.[1]
  const words =
    (caseName === undefined ? undefined : cases.get(caseName)) ?? [...cases.values()][0]!
  const cubins = cubinsOf(readFileSync(library)).map((cubin) => withoutFolder(cubin, session))
  const modules = cubins.map((cubin) => readCubin(cubin))
  const layouts = modules.flatMap(({ kernels }) =>
    kernels.flatMap(({ name, parameters }) => [
      '--kernel',
      `${name}=${parameters.list.map(({ offset, size }) => `${offset}+${size}`).join(',')}`,
    ]),
  )
  const own = ['--struct', '--field'].flatMap((option) =>
    valuesOf(words, option).flatMap((value) => [option, value]),
  )
  let printed: string
  try {
    printed = execFileSync(probe, [...own, ...gpuWords, ...layouts, '--library', library], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString()
  } catch {
    // The probe does not implement the CUDA functions that a library's kernels call, so skip the
    // library.
    return null
  }
  const answer = parseProbedLaunches(printed)
  if (!answer || answer.reason !== null) return null
  const page = JSON.parse(readFileSync(join(session, 'deep', `${id}.json`), 'utf8')) as DeepPage
  if (page.kernels.length !== answer.kernels.length) return null
  for (const [index, { mangled }] of answer.kernels.entries()) {
    const module = modules.find(({ kernels }) => kernels.some(({ name }) => name === mangled))
    const kernel = module?.kernels.find(({ name }) => name === mangled)
    const length = kernel ? instructionsOf(kernel.code, module!.architecture).length : 0
    if (length !== page.kernels[index]!.instructions.length)
      throw new Error(
        `${id} was compiled to ${length} instructions here and to ${page.kernels[index]!.instructions.length} there.`,
      )
  }
  return {
    seed: Number(valuesOf(measured.argv, '--seed')[0]),
    rung: {
      id,
      cubins: cubins.map((cubin) => Buffer.from(cubin).toString('hex')),
      launches: answer.kernels.map((kernel) => ({
        kernel: kernel.mangled,
        grid: kernel.grid,
        block: kernel.block,
        dynamicSharedBytes: kernel.dynamicSharedBytes,
        ...(kernel.clusterBlocks > 1 ? { clusterBlocks: kernel.clusterBlocks } : {}),
        arguments: kernel.arguments ?? '',
      })),
      memory: answer.memory ?? [],
      workspaceBytes: answer.workspaceBytes ?? 0,
      buffers: buffersOf(words),
      kernels: page.kernels.map(({ name, instructions }) => ({
        name,
        counts: columns.map((column) =>
          instructions.map((instruction) => instruction[column] ?? 0),
        ),
      })),
    },
  }
}

/** Writes `name`.json.br from the given session folder and returns the session's rungs. */
export function keepEmulation(name: string, session: string, only?: readonly string[]): string[] {
  const recorded = readFileSync(join(session, 'raw.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded)
  const about = JSON.parse(readFileSync(join(session, 'session.json'), 'utf8')) as {
    ladder: { id: string } | string
    problem: { sizes: Record<string, number> }
    device: { name: string }
    rungs: { id: string }[]
  }
  const folder = mkdtempSync(join(tmpdir(), 'kl-emulation-'))
  try {
    const probe = join(folder, 'probe')
    execFileSync(
      'nvcc',
      [
        ...['-std=c++17', '-O2', '-cudart', 'none', '-Xcompiler', '-rdynamic', '-I', 'include'],
        ...['probe/launches.cpp', '-ldl', '-o', probe],
      ],
      {
        cwd: new URL('../../cuda-kernels', import.meta.url).pathname,
        stdio: 'pipe',
      },
    )
    const kept = about.rungs
      .filter(({ id }) => !only || only.includes(id))
      .flatMap(({ id }) => keepRung(id, session, recorded, folder, probe) ?? [])
    const ladder = typeof about.ladder === 'string' ? about.ladder : about.ladder.id
    const capture: Capture = {
      title: `${ladder}, ${Object.values(about.problem.sizes).join(' x ')}, ${about.device.name}`,
      seed: kept[0]?.seed ?? 0,
      rungs: kept.map(({ rung }) => rung),
    }
    pack(captureFile, name, JSON.stringify(capture))
    return kept.map(({ rung }) => rung.id)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
