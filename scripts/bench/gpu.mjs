// @ts-check
/**
 * What profiling costs on a GPU: ncu as the card level calls it, a bare ncu with the same metrics, and
 * `ncu --set full`, by turns over the same launches of gemm-fp32.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodePath } from '../lib/node.mjs'
import { root } from '../lib/project.mjs'
import { inScratch, median, spread } from './support.mjs'

const program = join(root, 'dist/cli/kernel-ladder.mjs')
const rounds = 3

/**
 * Wall seconds; throws with the end of what it said where it fails.
 * @param {string} file @param {string[]} args @param {NodeJS.ProcessEnv} env
 */
async function timed(file, args, env) {
  const startedAt = performance.now()
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-2000)
    })
  const code = await new Promise((done) => {
    child.on('error', () => done('not found'))
    child.on('close', done)
  })
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${said}`)
  return (performance.now() - startedAt) / 1000
}

/** @param {string} size */
async function compare(size) {
  await inScratch(async (folder) => {
    const cache = join(folder, 'cache')
    const env = {
      ...process.env,
      LC_ALL: 'C',
      TMPDIR: folder,
      KERNEL_LADDER_CACHE: cache,
      KERNEL_LADDER_DATA: folder,
    }
    const profile = async (/** @type {string} */ name) => {
      const out = join(folder, name)
      const args = ['run', '--ladder', 'gemm-fp32', '--size', size, '--profile', 'card']
      await timed(nodePath(), [program, ...args, '--out', out], env)
      return JSON.parse(readFileSync(join(out, 'raw/ncu/profile.json'), 'utf8'))
    }
    /** @type {{ argv: string[] }} */
    const { argv } = await profile('warm')
    const real = argv.map((word) => word.replace('<cache>', cache).replace('<session>', folder))
    const at = real.findIndex((word) => word.endsWith('/kl-runner'))
    // The runner watches the program that started it, which has ended.
    const command = real.slice(at)
    command.splice(command.indexOf('--owner-pid'), 2)
    const ncu = real[0] ?? 'ncu'
    const marked = ['--profile-from-start', 'off', '--nvtx', '--clock-control', 'none']
    const metrics = ['--metrics', real[real.indexOf('--metrics') + 1] ?? '']
    const report = (/** @type {string} */ name) => ['--force-overwrite', '-o', join(folder, name)]

    /** @type {Record<'ours' | 'bare' | 'full', number[]>} */
    const seconds = { ours: [], bare: [], full: [] }
    for (let round = 0; round < rounds; round += 1) {
      seconds.ours.push((await profile(`ours-${round}`)).seconds)
      const bare = [...marked, '--cache-control', 'all', ...metrics, ...report('bare'), ...command]
      seconds.bare.push(await timed(ncu, bare, env))
      const full = [...marked, '--set', 'full', ...report('full'), ...command]
      seconds.full.push(await timed(ncu, full, env))
    }
    const { ours, bare, full } = seconds
    const ratio = (/** @type {number[]} */ of, /** @type {number[]} */ to) =>
      (median(of) / median(to)).toFixed(2)
    console.log(
      `Profiling gemm-fp32 at ${size}, seconds of ncu, median (least to most) of ${rounds}:`,
    )
    console.log(`  ours, card level: ${spread(ours, 2)}`)
    console.log(
      `  bare ncu, the same metrics: ${spread(bare, 2)}; ours is ${ratio(ours, bare)} of it`,
    )
    console.log(`  ncu --set full: ${spread(full, 2)}; ${ratio(full, ours)} of ours`)
  })
}

export async function benchGpu() {
  const doctor = spawn(nodePath(), [program, 'doctor', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  doctor.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await new Promise((done) => doctor.on('close', done))
  /** @type {{ canProfile: boolean, checks: { status: string, label: string, detail: string }[] }} */
  const report = JSON.parse(text)
  if (report.canProfile) {
    for (const size of ['1024', '4096']) await compare(size)
    return
  }
  const missing = report.checks.find(({ status }) => status === 'missing')
  console.log(
    `Profiling cost on a GPU: not run. ${missing ? `${missing.label}: ${missing.detail}` : ''}`,
  )
}
