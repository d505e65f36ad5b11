/** Tests that the builds shipped for machines without nvcc match the current sources. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shippedUnits } from '../../scripts/lib/ship-builds'
import { buildKey, type BuildCache } from '../../src-main/adapters/disk/build-cache'
import { openShippedBuilds, shippedPlatform } from '../../src-main/adapters/disk/shipped-builds'
import { readSharedFiles } from '../../src-main/adapters/catalog/catalog'
import { localMachine } from '../../src-main/adapters/machine/local-machine'
import { liveToolbox } from '../../src-main/adapters/tools/live-toolbox'
import type { LabOutcome } from '../../src-main/domain/labs/outcome'
import { runIn } from '../hosts/cli/support'
import { useOneCore } from '../one-core'
import { root, shippedKernels, tempDir } from '../services/support'

useOneCore()

const builds = join(root, 'resources/builds')

describe.skipIf(!shippedPlatform())('shipped builds', () => {
  it('match every shipped rung, reference and lab starter; otherwise run `npm run kernels -- ship`', async () => {
    const { compiler: version, byKey } = (await openShippedBuilds(builds))!
    const asked = new Map<string, string>()
    let what = ''
    const cache: BuildCache = {
      slot(inputs) {
        asked.set(buildKey(inputs), what)
        const kept = { argv: [], stdout: '', stderr: '', seconds: 0 }
        return Promise.resolve({
          ...{ sourceDir: '', artifact: '', kept, pending: '' },
          keep: () => Promise.resolve(),
          discard: () => Promise.resolve(),
        })
      },
      compilerVersion: () => Promise.resolve(version),
    }
    const compiler = {
      ...{ toolbox: liveToolbox(null), cache, nvcc: 'nvcc', version },
      includes: await readSharedFiles(shippedKernels, 'include'),
      signal: new AbortController().signal,
    }
    for (const unit of await shippedUnits(shippedKernels)) {
      what = unit.what
      await unit.build(compiler)
    }
    expect([...asked].flatMap(([key, of]) => (byKey.has(key) ? [] : [of]))).toEqual([])
    expect([...byKey.keys()].filter((key) => !asked.has(key))).toEqual([])
  })

  describe('on a machine without nvcc', () => {
    const machine = async () => {
      const own = localMachine()
      return {
        ...own,
        toolbox: (recorder: Parameters<typeof own.toolbox>[0]) => ({
          ...own.toolbox(recorder),
          locate: () => Promise.resolve(null),
        }),
        cache: { ...own.cache, shippedFolder: builds },
      }
    }
    const run = async (...words: string[]) => {
      const dir = await tempDir()
      const env = { KERNEL_LADDER_CACHE: join(dir, 'cache'), KERNEL_LADDER_DATA: join(dir, 'data') }
      return runIn({ env, machine: await machine() }, ...words)
    }

    it('are used to run a shipped rung at any size', async () => {
      const rung = ['--ladder', 'gemm-fp32', '--rungs', '03_shared_tile', '--target', 'emulated']
      const size = ['--m', '65', '--n', '70', '--k', '33']
      const { code, stdout, stderr } = await run('run', ...rung, ...size)
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(/^03_shared_tile +ok /m)
      expect(stdout).toMatch(/has no nvcc, so the builds that come with this program were used/)
    })

    it('are used to check a lab’s starter', async () => {
      const file = join(shippedKernels, 'labs/01-coalescing/starter.cu')
      const check = [
        'lab',
        'check',
        '01-coalescing',
        '--file',
        file,
        '--target',
        'emulated',
        '--json',
      ]
      const { stdout } = await run(...check)
      const { checks } = JSON.parse(stdout) as LabOutcome
      expect(checks.find(({ id }) => id === 'right')?.status).toBe('passed')
    })

    it('are not used for a different source, and the error suggests the next step', async () => {
      const folder = join(await tempDir(), 'changed')
      await cp(join(root, 'resources/templates/blank'), folder, { recursive: true })
      const { code, stderr } = await run(
        'run',
        '--ladder',
        folder,
        '--trust',
        '--target',
        'emulated',
      )
      expect(code).toBe(3)
      expect(stderr).toMatch(
        /^error: nvcc was not found, and .* is not among the builds that come/m,
      )
      expect(stderr).toMatch(/Install the CUDA toolkit.*\n.*machine add/)
    })
  })
})
