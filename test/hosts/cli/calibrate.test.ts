/** Tests `machine calibrate` with a fake program that prints an H100's microbenchmark output. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findGpu, listGpus, ownGpusFolder } from '../../../src-main/adapters/disk/gpu-files'
import { readGpuParameters } from '../../../src-main/domain/prediction/gpu-parameters'
import { faultsOf } from '../../json-schemas'
import { tempDir } from '../../services/support'
import { fakeTools, run } from '../../cli/support'

async function place(): Promise<{ env: Record<string, string>; config: string }> {
  const dir = await tempDir()
  const config = join(dir, 'config')
  return { env: { ...fakeTools(dir), KERNEL_LADDER_CONFIG: config }, config }
}

const shipped = join(import.meta.dirname, '../../../resources/gpus')

describe('machine calibrate local', () => {
  it('builds and runs the microbenchmarks, reports the measurements, and stores the parameters', async () => {
    const { env, config } = await place()
    const { code, stdout, stderr } = await run(['machine', 'calibrate', 'local'], env)
    expect(stderr).toMatch(/Building the microbenchmarks/)
    expect(stderr).toMatch(/measured dram \(\d+\.\d s\)/)
    expect(stdout).toMatch(/^NVIDIA H100 80GB HBM3: \d+ measured, \d+ derived/)
    expect(stdout).toMatch(/^latencyShared +23 +0 +cycles +measured +LDS of 32 bits$/m)
    const file = join(config, 'gpus', 'h100.json')
    expect(stderr).toContain(`Saved in ${file}.`)
    expect(readGpuParameters(await readFile(file, 'utf8'), file).gpu).toBe('NVIDIA H100 80GB HBM3')
    expect(code).toBe(0)
  })

  it('prints the parameters and the output in a JSON document that matches the published schema', async () => {
    const { env } = await place()
    const { code, stdout } = await run(['machine', 'calibrate', 'local', '--json'], env)
    const document = JSON.parse(stdout) as { parameters: { name: string }; output: string }
    expect(faultsOf('machine-calibrate', document)).toEqual([])
    expect(document.parameters.name).toBe('h100')
    expect(document.output).toBe(
      await readFile(join(import.meta.dirname, '../../captures/calibrate/h100.jsonl'), 'utf8'),
    )
    expect(code).toBe(0)
  })

  it.each([
    ['cut', 2, /microbenchmarks did not finish/],
    ['crash', 1, /were terminated by SIGSEGV/],
    ['out-of-memory', 3, /code 3: cudaMalloc: out of memory/],
  ])(
    'prints an error message and stores nothing if the program is %s',
    async (fault, exit, sentence) => {
      const { env, config } = await place()
      const { code, stderr } = await run(['machine', 'calibrate', 'local'], {
        ...env,
        FAKE_CALIBRATE: fault,
      })
      expect(stderr).toMatch(sentence)
      expect(await listGpus({ shipped: '', own: ownGpusFolder(config) })).toEqual([])
      expect(code).toBe(exit)
    },
  )

  it('stops on ^C without storing anything', async () => {
    const { env, config } = await place()
    const running = run(['machine', 'calibrate', 'local'], { ...env, FAKE_CALIBRATE: 'hang' })
    const stop = setInterval(() => process.emit('SIGINT'), 200)
    const { code, stderr } = await running
    clearInterval(stop)
    expect(stderr).toMatch(/Interrupted: stopping; nothing is saved\./)
    expect(await listGpus({ shipped: '', own: ownGpusFolder(config) })).toEqual([])
    expect(code).toBe(1)
  })

  it.each([
    ['a GPU', ['nvidia-smi'], /No NVIDIA GPU|no GPU/i],
    ['nvcc', ['nvcc'], /nvcc/],
  ])('exits with 3 on a machine without %s', async (_, without, sentence) => {
    const { env } = await place()
    const bin = env['PATH']!.split(':')[0]!
    const { rm } = await import('node:fs/promises')
    for (const tool of without) await rm(join(bin, tool))
    const { code, stderr } = await run(['machine', 'calibrate', 'local'], env)
    expect(stderr).toMatch(sentence)
    expect(code).toBe(3)
  })

  it('rejects an unknown machine', async () => {
    const { env } = await place()
    const { code, stderr } = await run(['machine', 'calibrate', 'titan'], env)
    expect(stderr).toMatch(/There is no machine named titan/)
    expect(code).toBe(2)
  })
})

describe("a GPU's parameters", () => {
  it("come from the user's file instead of the built-in file, with an error if it is faulty", async () => {
    const own = ownGpusFolder(await tempDir())
    const folders = { shipped, own }
    const before = await findGpu(folders, 't4')
    expect(before).toMatchObject({ own: false, parameters: { name: 't4' } })
    await mkdir(own, { recursive: true })
    const text = await readFile(join(shipped, 't4.json'), 'utf8')
    await writeFile(join(own, 't4.json'), text.replace('"Tesla T4"', '"My T4"'))
    expect(await findGpu(folders, 't4')).toMatchObject({ own: true, parameters: { gpu: 'My T4' } })
    await writeFile(join(own, 't4.json'), text.slice(0, 100))
    await expect(findGpu(folders, 't4')).rejects.toMatchObject({ kind: 'input' })
    expect(await findGpu(folders, '../t4')).toBeNull()
    expect(await findGpu(folders, 'nothing')).toBeNull()
    expect(await listGpus(folders)).toContain('t4')
  })
})
