/** Tests that the built package reproduces README.md's emulated run without nvcc. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { documentWith } from '../../scripts/lib/document.mjs'
import { emulatedOutput } from '../../scripts/lib/figure-docs.mjs'
import { root, tempDir } from '../services/support'
import { runBundle } from './support'

// The host code of the shipped builds runs only on this platform.
it.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'README.md contains the emulated run from `npm run readme -- figures`',
  async () => {
    const home = await tempDir()
    const env = {
      PATH: '/usr/bin:/bin',
      KERNEL_LADDER_CACHE: join(home, 'cache'),
      KERNEL_LADDER_DATA: join(home, 'data'),
    }
    const program = join(root, 'dist/package/lib/kernel-ladder.js')
    const part = await emulatedOutput(
      async (args: string[]) => {
        const { code, stdout, stderr } = await runBundle(args, env, program)
        expect(code, stderr).toBe(0)
        return stdout
      },
      join(home, 'counts'),
    )
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe(
      await documentWith('README.md', [['emulated', part]]),
    )
  },
)
