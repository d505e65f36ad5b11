/** Ladder folders whose rungs nvcc builds, as the command line shows their runs without a GPU. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runIn } from '../../hosts/cli/support'
import { keeping, keptNvcc } from '../../kept-nvcc'
import { tempDir } from '../support'

const kept = await keptNvcc('folders', { artifacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

it.each(['static:h200', 'emulated'])(
  'a kl_launch without a return, which crashes, is shown with its warning: %s',
  async (target) => {
    const folder = join(await tempDir(), 'blank')
    const machine = await kept.machine()
    await runIn({ machine }, 'init', folder)
    const file = join(folder, '01_first.cu')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('  return cudaGetLastError();\n', ''))
    const run = ['run', '--ladder', folder, '--rungs', '01_first', '--at', 'N=1000', '--trust']
    const { code, stdout } = await runIn({ machine }, ...run, '--target', target)
    expect(code).toBe(1)
    expect(stdout).toMatch(/01_first\.cu:16: warning: missing return statement .* "kl_launch"/)
    expect(stdout).toMatch(/^01_first: failed\. .*SIGSEGV/m)
  },
)
