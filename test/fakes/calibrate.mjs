import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/lib/project.mjs'

const captured = readFileSync(join(root, 'test/captures/calibrate/h100.jsonl'), 'utf8')

/** Replays the microbenchmark output of an H100. */
export async function calibrate(call) {
  call.logCall('kl-calibrate')
  const ending = call.env.FAKE_CALIBRATE
  if (ending === 'out-of-memory') {
    call.complain('cudaMalloc: out of memory\n')
    return 3
  }
  const half = captured.split('\n').slice(0, 40).join('\n')
  if (ending === 'cut' || ending === 'crash' || ending === 'hang') call.say(`${half}\n`)
  if (ending === 'crash') call.die('SIGSEGV')
  if (ending === 'hang') await call.forever()
  if (ending !== 'cut') call.say(captured)
  return 0
}
