/** Tests the CLI output of runs without a GPU, for ladder folders whose rungs nvcc builds. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runIn } from '../../hosts/cli/support'
import { keeping, keptNvcc } from '../../kept-nvcc'
import { useOneCore } from '../../one-core'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import { root, tempDir } from '../support'

useOneCore()

/** The local nvcc. The tests require an nvcc because failed builds are not stored. */
const nvcc = await findTool('nvcc')

const kept = await keptNvcc('folders', { artifacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

it.each(['static:h200', 'emulated'])(
  'a kl_launch that crashes because of a missing return is shown with the compiler warning: %s',
  async (target) => {
    const folder = join(await tempDir(), 'blank')
    const machine = await kept.machine()
    await runIn({ machine }, 'init', folder)
    const change = async (name: string, from: string, to: string) => {
      const text = await readFile(join(folder, name), 'utf8')
      await writeFile(join(folder, name), text.replace(from, to))
    }
    await change('01_first.cu', '  return cudaGetLastError();\n', '')
    await change('ladder.yaml', 'reference: reference.cu', 'reference: { rung: 02_coalesced }')
    const run = ['run', '--ladder', folder, '--rungs', '01_first', '--at', 'N=1000', '--trust']
    const { code, stdout } = await runIn({ machine }, ...run, '--target', target)
    expect(code).toBe(1)
    expect(stdout).toMatch(/01_first\.cu:16: warning: missing return statement .* "kl_launch"/)
    expect(stdout).toMatch(/^01_first: failed\. .*SIGSEGV/m)
  },
)

it('relocatable device code is linked, and calls to functions from other files are reported', async () => {
  const folder = join(await tempDir(), 'blank')
  const machine = await kept.machine()
  await runIn({ machine }, 'init', folder)
  const yaml = await readFile(join(folder, 'ladder.yaml'), 'utf8')
  const trusting = yaml.replace('reference: reference.cu', 'reference: { rung: 02_coalesced }')
  await writeFile(join(folder, 'ladder.yaml'), `${trusting}build: { rdc: true }\n`)
  const file = join(folder, '01_first.cu')
  const text = (await readFile(file, 'utf8'))
    .replace('\n__global__', '\nextern __device__ float times(float, float);\n__global__')
    .replace('a * x[i]', 'times(a, x[i])')
  const definition = '__device__ float times(float a, float b) { return a * b; }\n'
  const run = async (source: string) => {
    await writeFile(file, source)
    const command = ['run', '--ladder', folder, '--at', 'N=1000', '--trust']
    return runIn({ machine }, ...command, '--target', 'emulated')
  }
  const defined = await run(`${text}${definition}`)
  expect(defined.code, defined.stderr).toBe(0)
  expect(defined.stdout).toMatch(/^01_first +ok .*\n02_coalesced +ok /m)
  if (nvcc === null) return
  const missing = await run(text)
  expect(missing.code).toBe(1)
  expect(missing.stdout).toMatch(
    /^01_first: failed\. The rung uses times on the GPU, but another file defines it/m,
  )
})

describe('the example docs/examples/layer-norm-backward', () => {
  const run = async (change: (yaml: string) => string, ...words: string[]) => {
    const folder = join(await tempDir(), 'layer-norm-backward')
    await cp(join(root, 'docs/examples/layer-norm-backward'), folder, { recursive: true })
    const file = join(folder, 'ladder.yaml')
    await writeFile(file, change(await readFile(file, 'utf8')))
    const command = ['run', '--ladder', folder, '--target', 'emulated', '--trust', ...words]
    return runIn({ machine: await kept.machine() }, ...command)
  }
  const small = ['--at', 'B=2', '--at', 'T=7', '--at', 'C=256']

  it('has inputs that the reference computes, and padding that no rung writes', async () => {
    const { code, stdout, stderr } = await run((yaml) => yaml)
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^01_two_passes +ok .*\n02_one_pass +ok /m)
    // C is not halved again, because it would no longer be a multiple of 128.
    expect(stdout).toContain('Emulated at B 16, T 512, C 384 instead of B 32, T 1024, C 768')
  })

  it('requires a zeroed workspace', async () => {
    const { code, stdout } = await run((yaml) => yaml.replace('  workspace: zero\n', ''), ...small)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^01_two_passes +ok .*\n02_one_pass +wrong /m)
    expect(stdout).toMatch(/the first is dgamma\[0\] = NaN, expected -?\d/)
  })

  it('rejects a size that violates a constraint', async () => {
    const { code, stderr } = await run((yaml) => yaml, '--at', 'C=100')
    expect(code).toBe(2)
    expect(stderr).toMatch(/At B 32, T 1024, C 100, C % 128 == 0 is not satisfied\./)
  })
})
