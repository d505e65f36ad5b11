// @ts-check
/**
 * Tests on a GPU with nvcc that a run reports other processes that compute on the same GPU. If no
 * other process uses the GPU, the run must report none. Run this script manually.
 *
 *     node test/gpu/shared.mjs <the one-file program>
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [program] = process.argv.slice(2)
if (!program) throw new Error('Name the one-file program as the first argument.')
const folder = mkdtempSync(join(tmpdir(), 'shared-'))

/** Returns the keys of a run's warnings. */
const warnings = () => {
  const words = [
    'run',
    '--ladder',
    'reduction',
    '--rungs',
    '01_interleaved_divergent',
    '--profile',
    'none',
    '--json',
  ]
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(`The run ended with ${status}: ${stderr}`)
  /** @type {{ key: string }[]} */
  const found = JSON.parse(stdout).warnings
  return found.map(({ key }) => key)
}

try {
  const busy = join(folder, 'busy')
  execFileSync('nvcc', ['-O2', '-o', busy, join(import.meta.dirname, 'runner-cases', 'busy.cu')])
  const other = spawn(busy, ['120'], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(/** @type {import('node:stream').Readable} */ (other.stdout), 'data')
  const beside = warnings()
  other.kill()
  await once(other, 'exit')
  const alone = warnings()
  console.log(JSON.stringify({ beside, alone }, null, 2))
  const shared = 'records.gpuShared'
  if (!beside.includes(shared) || alone.includes(shared)) {
    console.error('The warning is missing beside the other process, or there without it.')
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
