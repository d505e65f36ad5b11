// Replaces the runner that nvcc would build.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  faultIn,
  isReplay,
  likeOf,
  readLibrary,
  recorded,
  recordedLaunches,
  writeElsewhere,
} from './support.mjs'

/** Faults that need a separate process. */
const takesProcess = ['spawn', 'fork', 'bury', 'stay', 'eat', 'flood']

const buried = `
const fs = require('fs'), name = 'n'.repeat(200)
for (let deep = 0; deep < 60; deep += 1) {
  fs.mkdirSync(name); process.chdir(name)
}
fs.mkdirSync('shut'); fs.writeFileSync('shut/file', ''); fs.chmodSync('shut', 0)`

const pause = (ms) => new Promise((done) => setTimeout(done, ms))

async function misbehave(fault, artifact, { env, isProcess, complain, logWords, path, forever }) {
  if (!isProcess && takesProcess.includes(fault))
    throw new Error(
      `The fault "${fault}" takes a machine of processes: fakeMachine({ processes: true }).`,
    )
  if (fault === 'write') writeElsewhere(artifact, path, complain)
  // Create folders with a path longer than the maximum path length. The innermost folder has no
  // access permissions.
  if (fault === 'bury')
    spawnSync(process.execPath, ['-e', buried], { cwd: env.TMPDIR, stdio: 'ignore' })
  if (fault === 'stay') spawn('sleep', ['300'], { detached: true, stdio: 'ignore' }).unref()
  if (fault === 'hang') await forever()
  if (fault === 'wait') while (!existsSync(path(env.FAKE_GATE))) await pause(50)
  if (fault === 'spawn') {
    const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
    complain(`child ${child.pid}\n`)
    logWords('child', String(child.pid))
    await forever()
  }
  if (fault === 'fork')
    for (;;) {
      // Each child starts two more children and detaches from its parent.
      const child = spawn('sh', ['-c', 'setsid sleep 300 & setsid sleep 300 & wait'], {
        detached: true,
        stdio: 'ignore',
      })
      child.unref()
      await pause(20)
    }
  if (fault === 'eat') {
    const eaten = []
    for (;;) {
      eaten.push(Buffer.alloc(64 * 1024 * 1024, 1))
      await pause(20)
    }
  }
  if (fault === 'flood')
    for (;;) await new Promise((done) => process.stdout.write('x'.repeat(65536) + '\n', done))
}

/**
 * Returns why a library cannot be loaded, or null. A Python rung requires the script next to the
 * library.
 */
function refusal(artifact, library) {
  const script = /^\/\/ script: (.+)/m.exec(artifact)?.[1]
  return script === undefined || existsSync(join(dirname(library), 'src', script))
    ? null
    : 'Python could not be prepared for it; stderr has the reason'
}

/**
 * Imitates a Python rung. `// prepares: 0.3 0.1` means that importing takes 0.3 s and compiling
 * takes 0.1 s.
 */
async function prepare(artifact, rung, line) {
  const [, load, compile] = /^\/\/ prepares: (\S+) (\S+)/m.exec(artifact) ?? []
  if (compile === undefined) return
  await pause(1000 * (Number(load) + Number(compile)))
  line({ event: 'prepared', rung, seconds: Number(compile), with: 'Python 3.12.3' })
}

const slownessOf = (artifact) => Number(/^\/\/ slower: (\S+)/m.exec(artifact)?.[1] ?? 1)

/**
 * Imitates alternating timings of two builds. Each time is the recorded time multiplied by a factor
 * from the source. The added noise is the same in every run.
 */
function compare({ env, options, option, path, line, die }, events) {
  const refused = new Map()
  const artifacts = new Map(
    options('--rung').map((word) => {
      const at = word.indexOf('=')
      const library = path(word.slice(at + 1))
      const artifact = readLibrary(library)
      refused.set(word.slice(0, at), refusal(artifact, library))
      return [word.slice(0, at), artifact]
    }),
  )
  let state = 1 + Number(option('--round'))
  const noise = () => {
    state = (state * 48271) % 2147483647
    return 1 + 0.002 * (state / 2147483647 - 0.5)
  }
  for (const pair of options('--pair')) {
    const [rung, against, copy] = pair.split('=')
    line({ event: 'start', rung, stage: 'load' })
    const without = [rung, against, copy].find((id) => refused.get(id) !== null)
    if (without !== undefined) {
      line({ event: 'unsupported', rung: without, reason: refused.get(without) })
      continue
    }
    line({ event: 'start', rung, stage: 'time' })
    const fault = faultIn(artifacts.get(rung))
    if (fault === 'compare-crash') die('SIGSEGV')
    const like = likeOf(artifacts.get(rung)) ?? rung.replace(/@\w+$/, '')
    const { medianMs } = events.find(({ event, rung: of }) => event === 'timing' && of === like)
    const times = (id) => {
      const placed = id === rung ? Number(env.FAKE_NEW_SLOWER ?? 1) : 1
      const slower = placed * slownessOf(artifacts.get(id))
      return Array.from({ length: 20 }, () => medianMs * slower * noise())
    }
    const [newMs, oldMs, copyMs] = [times(rung), times(against), times(copy)]
    const cycles = (all) => all.map((ms) => Math.round(ms * 1.98e6))
    line({
      ...{ event: 'pair', rung, against, newMs, oldMs, copyMs },
      newCycles: cycles(newMs),
      oldCycles: cycles(oldMs),
      smClockBeforeMHz: 1980,
      smClockAfterMHz: 1980,
    })
  }
  line({ event: 'done' })
  return option('--max-seconds') === undefined ? 2 : 0
}

const wrongResult = {
  passed: false,
  mismatches: 3,
  firstMismatch: { buffer: 'c', index: [1, 2], expected: 0.5, actual: null },
  worstRelativeError: null,
}

const isVerifying = ({ event, stage }) =>
  event === 'verify' || (event === 'start' && stage === 'verify')

export async function runner(call) {
  const { words, env, options, path, line, say, die } = call
  call.logCall('runner')
  call.logWords('gpu', env.CUDA_VISIBLE_DEVICES ?? '')
  const refuse = (kind, message, code) => {
    line({ event: 'error', kind, message })
    return code
  }
  const [command] = words
  if (Number.parseInt(env.CUDA_VISIBLE_DEVICES || '0') >= Number(env.FAKE_GPUS || 1))
    return refuse('no-device', 'no CUDA-capable device is detected', 3)
  const goneFile = `${env.KERNEL_LADDER_CACHE}/gpu-gone`
  if (env.FAKE_GONE_AT && words.includes(env.FAKE_GONE_AT)) writeFileSync(goneFile, 'no-device')
  const gone = existsSync(goneFile) ? readFileSync(goneFile, 'utf8') : ''
  if (env.FAKE_RUNNER === 'no-device' || gone === 'no-device')
    return refuse('no-device', 'no CUDA-capable device is detected', 3)
  if (gone === 'out-of-memory')
    return refuse('out-of-memory', 'The problem needs 1 GiB and the GPU has 0 GiB free.', 2)
  if (gone === 'silent') return 1
  if (gone === 'mute') await call.forever()
  if (command === 'device') {
    const [device] = recorded('runner/device').split('\n')
    line({ ...JSON.parse(device), pciBusId: call.busIdOfMachine() })
    return 0
  }
  if (env.FAKE_RUNNER === 'out-of-memory')
    return refuse('out-of-memory', 'The problem needs 900 GiB and the GPU has 139 GiB free.', 2)

  const events = recorded('runner/measure-1')
    .split('\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text))
  for (const event of events.filter(({ event: name }) => name === 'device')) line(event)
  if (words.includes('--ceilings')) {
    // Use an H200's ceilings if the recording is from an older runner, which did not measure
    // ceilings.
    const known = events.find(({ event: name }) => name === 'ceilings')
    line(
      known ?? { event: 'ceilings', fp32Gflops: 60000, l1GBs: 30000, l2GBs: 6000, dramGBs: null },
    )
  }
  const [isBlind, isCheck] = [command === 'blind', command === 'check']
  const isMeasure = command === 'measure' || isCheck
  for (const name of options('--case')) {
    if (
      isMeasure &&
      options('--reference-library').length + options('--reference-rung').length === 0
    )
      return refuse('bad-argument', `the case ${name} has no reference`, 2)
    if (isMeasure) line({ event: 'start', rung: null, case: name, stage: 'reference' })
  }
  if (options('--case').length === 0) return refuse('bad-argument', 'no case', 2)
  if (env.FAKE_RUNNER === 'reference') return refuse('reference', 'it returns an error', 2)
  if (env.FAKE_RUNNER === 'reference-crash') die('SIGSEGV')
  const isLaunches = ({ event }) => event === 'launches'
  const tellLaunches = (rung, like) => {
    if (env.FAKE_RUNNER === 'no-launches')
      line({ event: 'launches', rung, kernels: [], reason: 'its launch cannot be captured' })
    else line({ event: 'launches', rung, kernels: recordedLaunches(like), reason: null })
  }

  if (command === 'compare') return compare(call, events)

  for (const word of options('--rung')) {
    // The old build of a rung replays the same recorded rung as the new build.
    const rung = word.slice(0, word.indexOf('='))
    const library = path(word.slice(word.indexOf('=') + 1))
    const artifact = readLibrary(library)
    const without = refusal(artifact, library)
    if (without !== null) {
      line({ event: 'start', rung, stage: 'load' })
      line({ event: 'unsupported', rung, reason: without })
      continue
    }
    const fault = faultIn(artifact)
    const isWrong = fault === 'wrong' || words.includes(fault?.replace('wrong-at:', ''))
    const like = likeOf(artifact) ?? rung.replace(/@\w+$/, '')
    if (isCheck) {
      // `check` does not load the rung, so only the stored results can be wrong.
      for (const own of events.filter((one) => one.rung === like && isVerifying(one)))
        line({ ...own, rung, ...(isWrong && own.event === 'verify' ? wrongResult : {}) })
      continue
    }
    if (fault === 'garble') {
      for (const event of ['device', 'start', 'progress', 'verify', 'timing', 'launches', 'failed'])
        line({ event })
      say('{"event":"timing","rung":\n{"event":{}}\n{"event":"error"}\nnull\n')
    } else if (fault === 'forge') {
      const timing = events.find(({ event }) => event === 'timing')
      for (const name of [rung, '06_float4', 'nobody', '__proto__'])
        line({ ...timing, rung: name, medianMs: 1e-6, samplesMs: [1e-6] })
      line({ event: 'ceilings', fp32Gflops: 1e30, l1GBs: 1, l2GBs: 1, dramGBs: 1 })
      line({ event: 'failed', rung: '06_float4', stage: 'load', reason: 'forged', fatal: false })
      line({ event: 'start', rung: 'nobody', stage: 'time' })
      line({ event: 'error', kind: 'no-device', message: 'forged' })
    } else if (fault && !isWrong && !/^(write|bury|stay|compare-crash|wrong-at:.*)$/.test(fault)) {
      line({ event: 'start', rung, stage: 'load' })
      line({ event: 'start', rung, stage: isBlind ? 'time' : 'verify' })
    }
    // A replayed plan contains no host code from the submission.
    if (fault !== 'write' || !isReplay(library)) await misbehave(fault, artifact, call)
    if (fault?.startsWith('gpu-lost:')) writeFileSync(goneFile, fault.slice('gpu-lost:'.length))
    if (fault?.startsWith('gpu-lost:') || fault === 'crash') die('SIGSEGV')
    if (fault === 'context-lost') {
      const reason = 'an illegal memory access was encountered'
      line({ event: 'failed', rung, stage: 'verify', reason, fatal: true })
      return 4
    }
    for (const own of events.filter(
      (candidate) => candidate.rung === like && !isLaunches(candidate),
    )) {
      const event = { ...own, rung }
      if (isBlind && isVerifying(event)) continue
      // In a sweep, the time of a point depends on the parameter values.
      const slower = /@\d+$/.test(rung) ? slownessOf(artifact) : 1
      if (event.event === 'timing') {
        event.medianMs *= slower
        event.samplesMs = event.samplesMs.map((ms) => ms * slower)
      }
      if (event.event === 'timing' && env.FAKE_NO_CUPTI) event.busyMs = null
      if (event.event === 'timing' && env.FAKE_CLOCKS)
        Object.assign(event, {
          ...{ smClockLowMHz: 1695, smClockHighMHz: 1980, memoryClockMHz: 3201 },
          ...{ temperatureC: 61, powerW: 698.5, powerLimitW: 700 },
          clockReasons: Number(env.FAKE_CLOCKS),
        })
      if (isWrong && !isBlind && event.event === 'timing') continue
      if (isWrong && event.event === 'verify') line({ ...event, ...wrongResult })
      else line(event)
      if (event.event === 'start' && event.stage === 'load') await prepare(artifact, rung, line)
      if (event.event === 'timing') tellLaunches(rung, like)
      // Bursts are a tenth faster than single launches. The reference's bursts are a fifth faster.
      if (event.event === 'timing' && words.includes('--bursts'))
        line({
          event: 'burst',
          rung,
          ...{ launches: 8, restSeconds: 1, medianMs: event.medianMs * 0.9 },
          samplesMs: [event.medianMs * 0.9],
          referenceMedianMs: event.referenceMedianMs && event.referenceMedianMs * 0.8,
          referenceSamplesMs: [],
        })
    }
  }
  line({ event: 'done' })
  return 0
}
