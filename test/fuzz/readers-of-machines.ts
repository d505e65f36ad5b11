/**
 * Fuzzes the readers of output from remote machines, schedulers, git, and this program's other
 * processes.
 */
import { logEntries } from '../../src-main/adapters/catalog/commits'
import { stateNotice, tryOptions } from '../../src-main/adapters/remote/slurm'
import { askHostKey, refusalOf, type Shell } from '../../src-main/adapters/remote/ssh'
import { RunEvent } from '../../src-main/contract'
import {
  endOf,
  isEarly,
  parseQueueLine,
  stateOf,
  submittedId,
} from '../../src-main/domain/remote/slurm-job'
import { SlurmOptions } from '../../src-main/domain/remote/machine-file'
import { parseTarget } from '../../src-main/domain/targets/targets'
import { editMachines, parseMachines } from '../../src-main/parsers/machines-file'
import { parseJsonWithin } from '../../src-main/parsers/json-within'
import { alike, text, type Reader } from './reader'
import { JobLine } from '../../src-main/domain/remote/job-protocol'

/** Returns a machine on which every script prints the given lines. */
const answering = (lines: readonly string[]): Shell => ({
  name: 'titan',
  run: () =>
    Promise.resolve({ outcome: 'done' as const, status: 0, lines: [...lines], stderr: '' }),
})

const printed = (stdout: string, stderr: string) =>
  Promise.resolve({ outcome: 'exited', exitCode: 0, stdout, stderr } as never)

const queue = [
  '123|PENDING|Resources|',
  '123_4|RUNNING|None|node01',
  '77|COMPLETED|None|node[01-02]',
  '5|REQUEUE_HOLD|job requeued in held state|(null)',
]

const slurmSays = [
  'rc 0\nout Welcome\nout 123;alps\n',
  'rc 1\nerr sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n',
  'rc 127\nerr sh: sbatch: not found\n',
  'slurmstepd: error: *** JOB 17 ON node01 CANCELLED AT 2026-11-22T10:00:00 DUE TO TIME LIMIT ***\nCANCELLED by 1000\n',
]

const sshSays = [
  'user ada\nhostname titan.example.org\nport 22\naddressfamily any\n\u0000debug1: Server host key: ssh-ed25519 SHA256:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG\r\ndebug1: Host is known\n',
  'user ada\nhostname titan\nport 2222\n\u0000No ED25519 host key is known for titan and you have requested strict checking.\nHost key verification failed.\n',
  '\u0000ssh: connect to host titan port 22: Connection refused\n',
]

const machines = [
  `kernel_ladder_machines: 1
machines:
  titan:
    ssh: titan.example.org
    before: ['module load cuda']
`,
  `kernel_ladder_machines: 1
machines:
  alps: { ssh: login.alps, slurm: { partition: gpu, gres: gpu:h100:1, time: 2:00:00 } }
`,
]

const jobLines = [
  '{"type":"begun","host":"node01"}',
  '{"type":"event","event":{"type":"rung-finished","rung":"01_naive","medianMs":1.25}}',
  '{"type":"err","text":"01_naive: 1.25 ms"}',
  '{"type":"end","code":0,"folder":"/tmp/x","id":"gemm-1","missing":null,"unsaved":null,"error":null}',
  '{"type":"end","code":3,"missing":{"kind":"missing","message":"There is no nvcc.","remedy":"Install it."}}',
]

const log =
  'd0c5a4e0f6b1a2c3d4e5f60718293a4b5c6d7e8f\u0000d0c5a4e\u00001111111 2222222\u0000Tile the loop\u0000Why it is\nfaster.\n\nSigned-off-by: A\u0000\u0001\n' +
  'a1b2c3d4e5f60718293a4b5c6d7e8fd0c5a4e0f6\u0000a1b2c3d\u0000\u0000First\u0000\u0000\u0001\n'

export const readersOfMachines: readonly Reader[] = [
  text(
    'machines file',
    () => machines,
    (yaml) => {
      const file = parseMachines(yaml, 'machines.yaml')
      const edited = parseMachines(editMachines(yaml, 'zz', { ssh: 'zz' }), 'machines.yaml')
      alike('the other machines', { ...edited.machines, zz: 0 }, { ...file.machines, zz: 0 })
      return file
    },
  ),
  text(
    'Slurm queue',
    () => queue,
    (line) => {
      const read = parseQueueLine(line)
      if (read === null) return null
      const { id, state, reason, node } = read
      alike('a line of the queue', `${id}|${state}|${reason}|${node}`, line.trim())
      const now = stateOf(read)
      return [now, stateNotice(now, null, { name: 'titan', number: id })]
    },
  ),
  text(
    'Slurm answers',
    () => slurmSays,
    async (said) => {
      const lines = said.split('\n')
      const end = endOf({ queue: null, accounting: said, step: said })
      const id = submittedId(lines.map((line) => line.replace(/^out /, '')))
      await tryOptions(answering(lines), SlurmOptions.parse({}))
      return [end, isEarly(end.state), id]
    },
  ),
  text(
    'ssh',
    () => sshSays,
    async (said) => {
      const [settings = '', handshake = ''] = said.split('\u0000')
      refusalOf('titan', handshake)
      return askHostKey('titan', [], ({ args }) =>
        args.includes('-G') ? printed(settings, '') : printed('', handshake),
      )
    },
  ),
  text(
    'job lines',
    () => jobLines,
    (line) => {
      const parsed = parseJsonWithin(line)
      const said = 'value' in parsed ? JobLine.safeParse(parsed.value).data : null
      return said?.type === 'event' ? RunEvent.safeParse(said.event).data : said
    },
  ),
  text(
    'git log',
    () => [log],
    (printedLog) => logEntries(printedLog),
  ),
  text(
    'target',
    () => [
      'local',
      'static:h200',
      'static:sm_90a',
      'recorded',
      'titan',
      'emulated',
      'emulated:h200',
    ],
    parseTarget,
  ),
]
