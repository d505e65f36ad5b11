/**
 * Tests Slurm with real munged, slurmctld, and slurmd processes in the test's folder. Jobs use the
 * fake tools. Without Slurm, the tests are reported as skipped. With CI=true, the test command
 * installs Slurm.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { localShell } from '../../src-main/adapters/remote/ssh'
import { submitArray, type ArrayProgress } from '../../src-main/adapters/remote/slurm-array'
import { runProcess } from '../../src-main/adapters/tools/process'
import { submitJob } from '../../src-main/adapters/remote/slurm'
import { SlurmOptions } from '../../src-main/domain/remote/machine-file'
import type { JobState } from '../../src-main/domain/remote/slurm-job'
import { inEnglish } from '../../src-main/domain/text/english'
import { faultsOf } from '../json-schemas'
import { root } from '../services/support'
import { bundle, run, runBundle, start } from './support'
import { putFakes } from '../fakes/program.mjs'

const hasSlurm =
  process.getuid?.() === 0 &&
  ['/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/sbin/munged'].every(existsSync)

const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((done) => {
          server.listen(0, '127.0.0.1', () => {
            done((server.address() as { port: number }).port)
          })
        }),
    ),
  )
  for (const server of servers) server.close()
  return ports
}

interface Cluster {
  dir: string
  /** The environment on the login node. */
  env: Record<string, string>
  /** Runs a Slurm command. */
  call: (file: string, ...args: string[]) => string
  /** Simulates a controller that lost its state and a node that failed together with its jobs. */
  forget: () => Promise<void>
  close: () => Promise<void>
}

/**
 * Starts four nodes with eight GPUs each. Jobs of a second partition can preempt jobs on two nodes.
 * One partition accepts no jobs, and one node fails during a test.
 */
async function cluster(): Promise<Cluster> {
  // munged requires that other users cannot write to any folder above the socket.
  const dir = await mkdtemp(join(tmpdir(), 'kl-slurm-'))
  await chmod(dir, 0o755)
  const [controller, ...ports] = await freePorts(5)
  for (const name of ['state', 'munge', 'dev', 'bin']) await mkdir(join(dir, name))
  await chmod(join(dir, 'munge'), 0o711)
  await mkdir(join(dir, 'state/env_cache'))
  await writeFile(join(dir, 'state/env_cache/root'), `HOME=${dir}\nPATH=/usr/bin:/bin\n`)
  await writeFile(join(dir, 'munge/key'), Buffer.alloc(1024, process.pid & 0xff), { mode: 0o600 })
  const host = hostname().split('.')[0]!
  const cores = 64
  const node = (name: string, port: number): string =>
    `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${port} CPUs=${cores} Boards=1 SocketsPerBoard=1 CoresPerSocket=${cores} ThreadsPerCore=1 RealMemory=1000 Gres=gpu:h100:8`
  await writeFile(
    join(dir, 'slurm.conf'),
    [
      `ClusterName=kl\nSlurmctldHost=${host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root`,
      `AuthType=auth/munge\nAuthInfo=socket=${dir}/munge/socket\nCredType=cred/munge`,
      `SlurmctldPort=${controller}\nStateSaveLocation=${dir}/state\nSlurmdSpoolDir=${dir}/spool-%n`,
      `SlurmctldPidFile=${dir}/ctld.pid\nSlurmdPidFile=${dir}/slurmd-%n.pid`,
      `SlurmctldLogFile=${dir}/slurmctld.log\nSlurmdLogFile=${dir}/slurmd-%n.log`,
      'SlurmdParameters=config_overrides\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none',
      'SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\nMpiDefault=none',
      'SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1\nKillWait=5',
      'SlurmdTimeout=60\nSlurmctldTimeout=60\nReturnToService=2\nMinJobAge=300\nJobRequeue=1',
      'PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nPropagateResourceLimits=NONE',
      'AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none',
      // Read a job's initial environment from a file, because Slurm would otherwise run the test
      // user's shell startup files.
      'GetEnvTimeout=0',
      ...ports.map((port, index) => node(`n${index + 1}`, port)),
      'PartitionName=gpu Nodes=n1 Default=YES State=UP PriorityTier=1',
      'PartitionName=pair Nodes=n2 State=UP PriorityTier=1',
      'PartitionName=before Nodes=n2 State=UP PriorityTier=9 PreemptMode=OFF',
      'PartitionName=third Nodes=n3 State=UP PriorityTier=1',
      'PartitionName=taker Nodes=n3 State=UP PriorityTier=9 PreemptMode=OFF',
      'PartitionName=fourth Nodes=n4 State=UP PriorityTier=1',
      'PartitionName=closed Nodes=n1 State=DOWN\n',
    ].join('\n'),
  )
  for (let index = 0; index < 32; index += 1)
    execFileSync('mknod', [join(dir, `dev/gpu${index}`), 'c', '1', '3'])
  await writeFile(
    join(dir, 'gres.conf'),
    ports
      .map((_, index) => {
        const devices = `${dir}/dev/gpu[${8 * index}-${8 * index + 7}]`
        return `NodeName=n${index + 1} Name=gpu Type=h100 File=${devices}\n`
      })
      .join(''),
  )
  // Imitate sites with an sbatch wrapper that prints additional text around sbatch's output.
  await writeFile(
    join(dir, 'bin/sbatch'),
    '#!/bin/sh\necho "Welcome to kl: 2 nodes"\n/usr/bin/sbatch "$@"; code=$?\necho "Your quota: 12 %"; echo "Goodbye" >&2\nexit $code\n',
    { mode: 0o755 },
  )
  putFakes(join(dir, 'bin'))
  const conf = { SLURM_CONF: join(dir, 'slurm.conf') }
  const env = {
    ...conf,
    KERNEL_LADDER_CONFIG: join(dir, 'config'),
    KERNEL_LADDER_DATA: join(dir, 'data'),
    KERNEL_LADDER_CACHE: join(dir, 'cache'),
    PATH: [join(dir, 'bin'), '/usr/bin', '/bin'].join(delimiter),
  }
  const running = new Set<ChildProcess>()
  const daemon = (file: string, ...args: string[]): ChildProcess => {
    const child = spawn(file, args, { env: { ...process.env, ...conf }, stdio: 'ignore' })
    running.add(child)
    return child
  }
  const call = (file: string, ...args: string[]): string =>
    execFileSync(file, args, { env: { ...process.env, ...conf }, encoding: 'utf8', stdio: 'pipe' })
  const until = async (holds: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 200; tries += 1) {
      try {
        if (holds()) return
      } catch {
        // Try again, because the controller does not respond yet.
      }
      await delay(100)
    }
    throw new Error(
      `Slurm did not start: ${await readFile(join(dir, 'slurmctld.log'), 'utf8').catch(() => '')}`,
    )
  }
  const idle = (): boolean =>
    call('sinfo', '-h', '-p', 'gpu,pair,third,fourth', '-t', 'idle', '-o', '%D').trim() === '4'
  daemon(
    'munged',
    ...['--foreground', '--force', `--socket=${dir}/munge/socket`, `--key-file=${dir}/munge/key`],
    ...[
      `--pid-file=${dir}/munge/pid`,
      `--log-file=${dir}/munge/log`,
      `--seed-file=${dir}/munge/seed`,
    ],
  )
  await until(() => existsSync(join(dir, 'munge/socket')))
  let slurmctld = daemon('slurmctld', '-D')
  const nodes = ['n1', 'n2', 'n3', 'n4'].map((name) => daemon('slurmd', '-D', '-N', name))
  await until(idle)
  /**
   * Kills the processes that run in the cluster's folders, which are the jobs and their slurmstepd
   * processes.
   */
  const killJobs = (): void => {
    const all = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
    for (const line of all)
      if (line.includes(`${dir}/`) && !line.includes('munge') && !line.includes(bundle))
        try {
          process.kill(Number.parseInt(line.trim()), 'SIGKILL')
        } catch {
          // Ignore the error, because the process has already ended.
        }
  }
  const gone = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((done) => child.once('exit', done))
    child.kill('SIGKILL')
    await ended
  }
  return {
    ...{ dir, env, call },
    async forget() {
      await gone(slurmctld)
      for (const node of nodes) await gone(node)
      for (const line of execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split(
        '\n',
      ))
        if (/slurmstepd: \[\d+\.batch\]/.test(line))
          process.kill(Number.parseInt(line.trim()), 'SIGKILL')
      killJobs()
      slurmctld = daemon('slurmctld', '-D', '-c')
    },
    async close() {
      killJobs()
      for (const child of running) await gone(child)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

const ladder = ['--ladder', 'gemm-fp32', '--rungs', '01_naive,02_coalesced', '--size', '1024']
const words = ['run', ...ladder, '--profile', 'none', '--timeout', '600', '--target']

describe.skipIf(!hasSlurm)('Slurm on a login node', () => {
  let own: Cluster
  /** Returns the number of the job that a run submitted. */
  const numberIn = (text: string): string => /Job (\d+)/.exec(text)![1]!
  const queued = (): string[] => own.call('squeue', '-h', '-o', '%i').split('\n')

  beforeAll(async () => {
    own = await cluster()
    const { dir } = own
    const path = [join(dir, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
    const before = [
      `export XDG_CACHE_HOME='${dir}/remote' KERNEL_LADDER_DATA='${dir}/remote-data' PATH='${path}'`,
      `export KERNEL_LADDER_PATH_ONLY=1 CUDA_VISIBLE_DEVICES=0 FAKE_LOG='${dir}/calls.log'`,
    ]
    // Use a separate cache, because the fake tools store the fault and the GPU's name in the cache.
    const hang = (name: string): string =>
      `export FAKE_FAULTS='02_coalesced=hang' KERNEL_LADDER_CACHE='${dir}/cache-${name}'`
    const machine = (slurm: object, ...more: string[]) => ({ slurm, before: [...before, ...more] })
    const whole = { gres: 'gpu:h100:8', partition: 'pair' }
    await mkdir(own.env.KERNEL_LADDER_CONFIG!)
    await writeFile(
      join(own.env.KERNEL_LADDER_CONFIG!, 'machines.yaml'),
      JSON.stringify({
        kernel_ladder_machines: 1,
        machines: {
          kl: machine({ gres: 'gpu:h100:1', time: '10' }),
          ...Object.fromEntries(
            ['stopped', 'scancel', 'scontrol', 'forgotten'].map((name) => [
              name,
              machine({}, hang(name)),
            ]),
          ),
          closed: machine({ partition: 'closed' }),
          nowhere: machine({ partition: 'nowhere' }),
          // The job hangs until Slurm restarts it.
          pair: machine(whole, `[ -n "$SLURM_RESTART_COUNT" ] || ${hang('pair')}`),
        },
      }),
    )
  })
  afterAll(() => own.close())

  it.concurrent('runs a ladder as a job and stores the node in the session', async () => {
    const { code, stdout, stderr } = await runBundle([...words, 'kl', '--json'], own.env)
    expect(code, stderr).toBe(0)
    const document = JSON.parse(stdout) as { session: string; rungs: { status: string }[] }
    expect(document.rungs.map(({ status }) => status)).toEqual(['ok', 'ok'])
    const session = JSON.parse(await readFile(join(document.session, 'session.json'), 'utf8')) as {
      host: object
    }
    expect(session.host).toEqual({ name: 'n1', job: numberIn(stderr) })
    expect(stderr).toContain('of kl is running on n1.')
    expect(stderr).not.toContain('warning')
    const shown = await runBundle(['show', document.session], own.env)
    expect(shown.stdout).toContain(`measured on kl (n1, job ${numberIn(stderr)})`)
  })

  it.concurrent('stops a job and saves its results on ^C', async () => {
    const run = start([...words, 'stopped'], own.env, bundle)
    const said = await run.says('verify 3/3 02_coalesced')
    run.signal('SIGINT')
    const { code, stdout } = await run.finished
    expect([code, stdout]).toEqual([1, expect.stringMatching(/01_naive +ok/)])
    expect(queued()).not.toContain(numberIn(said))
  })

  it.concurrent.each([
    ['cancelled by someone else', ['scancel'], /ended early.* The job was canceled/],
    ['out of time', ['scontrol', 'update', 'TimeLimit=0'], /ended early.* its time limit/],
  ])(
    'copies back the finished results of a job that is %s',
    { tags: ['thorough'] },
    async (_, [file, ...args], why) => {
      const run = start([...words, file!], own.env, bundle)
      const number = numberIn(await run.says('verify 3/3 02_coalesced'))
      own.call(file!, ...args, file === 'scontrol' ? `JobId=${number}` : number)
      const { code, stdout, stderr } = await run.finished
      expect([code, stdout]).toEqual([1, expect.stringMatching(/01_naive +ok/)])
      expect(stderr).toMatch(why)
    },
  )

  it.concurrent(
    'prints why a job is queued or held, and removes the job on ^C',
    { tags: ['thorough'] },
    async () => {
      const run = start([...words, 'closed'], own.env, bundle)
      const number = numberIn(await run.says('is waiting in the queue of closed (PartitionDown).'))
      own.call('scontrol', 'hold', number)
      await run.says(`Job ${number} is held on closed (JobHeld`)
      run.signal('SIGINT')
      const { code, stderr } = await run.finished
      expect([code, stderr]).toEqual([1, expect.stringContaining('The job was canceled.')])
      expect(queued()).not.toContain(number)
    },
  )

  it.concurrent(
    'starts a job over if a job from another partition preempted it',
    { tags: ['thorough'] },
    async () => {
      const run = start([...words, 'pair'], own.env, bundle)
      const number = numberIn(await run.says('verify 3/3 02_coalesced'))
      own.call('sbatch', '-p', 'before', '--gres=gpu:8', '-o', '/dev/null', '--wrap=sleep 1')
      await run.says('and requeued it on pair (BeginTime)')
      own.call('scontrol', 'update', `JobId=${number}`, 'StartTime=now')
      const { code, stdout, stderr } = await run.finished
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(/02_coalesced +ok/)
    },
  )

  it.concurrent(
    'monitors 40 tasks, of which one fails, one is preempted, and one has no output',
    { tags: ['thorough'] },
    async () => {
      const shell = localShell('kl', (call) => runProcess({ ...call, env: own.env }))
      const agent = join(own.dir, 'agent.sh')
      await writeFile(
        agent,
        'case $SLURM_ARRAY_TASK_ID in 7) exit 3;; 9) exec sleep 300;; 11) exit 0;; esac\necho \'{"type":"end","code":0}\' >> "$3"\n',
      )
      const array = await submitArray(
        shell,
        { root: join(own.dir, 'arrays') },
        'forty',
        { node: '/bin/sh', agent, job: '{}', before: [], after: [] },
        SlurmOptions.parse({ partition: 'third' }),
        40,
      )
      const seen: ArrayProgress[] = []
      let taken = false
      const ended = await array.follow((progress) => {
        seen.push(progress)
        if (progress.done < 38 || progress.waiting > 0 || taken) return
        taken = true
        own.call('scontrol', 'update', `JobId=${array.number}_9`, 'Requeue=0')
        own.call('sbatch', '-p', 'taker', '--gres=gpu:8', '-o', '/dev/null', '--wrap=sleep 1')
      }, new AbortController().signal)
      const without = ended!.filter(({ last }) => last === null)
      expect(without.map(({ task, queue }) => [task, queue])).toEqual([
        [7, 'FAILED'],
        [9, 'PREEMPTED'],
        [11, 'COMPLETED'],
      ])
      expect(ended).toHaveLength(40)
      expect(Math.max(...seen.map(({ waiting }) => waiting))).toBeGreaterThan(10)
      expect(seen.flatMap(({ nodes }) => nodes)).toContain('n3')
    },
  )

  it.concurrent(
    'distinguishes a job that failed with its node from a job that is requeued',
    { tags: ['thorough'] },
    async () => {
      const shell = localShell('kl', (call) => runProcess({ ...call, env: own.env }))
      const job = async (id: string) => {
        const path = join(own.dir, `${id}.sh`)
        await writeFile(path, 'exec sleep 300\n')
        const states: JobState[] = []
        const started = await submitJob(
          shell,
          { root: join(own.dir, 'singles') },
          id,
          { node: '/bin/sh', agent: path, job: '{}', before: [], after: [] },
          SlurmOptions.parse({ partition: 'fourth' }),
          (state) => states.push(state),
        )
        const { signal } = new AbortController()
        const followed = started.follow(0, { onLine: () => undefined }, signal)
        const number = started.number!
        const running = async (): Promise<void> => {
          while (own.call('squeue', '-h', '-j', number, '-o', '%T').trim() !== 'RUNNING')
            await delay(200)
        }
        return { number, states, started, followed, running }
      }
      const ending = ({ started }: Awaited<ReturnType<typeof job>>): string =>
        inEnglish(started.ending()!.statement)

      const again = await job('again')
      const failed = await job('node')
      await Promise.all([again.running(), failed.running()])
      own.call('scontrol', 'update', `JobId=${failed.number}`, 'Requeue=0')
      // The node returns to service by itself (ReturnToService=2).
      own.call('scontrol', 'update', 'NodeName=n4', 'State=DOWN', 'Reason=test')
      await failed.followed
      expect(ending(failed)).toBe('The job’s node failed.')
      await vi.waitFor(() => expect(again.states.at(-1)?.state).toBe('queued'), 40_000)
      await again.started.stop(true)
      await again.followed
      expect(ending(again)).toBe('The job was canceled.')
    },
  )

  it.concurrent(
    'distributes the grading of a folder with the teacher’s own lab over tasks',
    { tags: ['thorough'] },
    async () => {
      const lab = join(own.dir, 'own-coalescing')
      await cp(join(root, 'cuda-kernels/labs/01-coalescing'), lab, { recursive: true })
      const handedIn = join(own.dir, 'handed-in')
      await mkdir(handedIn)
      for (const [name, file] of [
        ['ada', 'solution.cu'],
        ['bob', 'starter.cu'],
      ] as const)
        await cp(join(lab, file), join(handedIn, `${name}.cu`))
      const words = ['lab', 'grade', handedIn, '--lab', lab, '--tasks', '2', '--json', '--target']
      const untrusted = await runBundle([...words, 'kl'], own.env)
      expect([untrusted.code, untrusted.stderr]).toEqual([2, expect.stringContaining('trust')])
      const { stdout, stderr } = await runBundle(
        [...words, 'kl', '--trust', '--unisolated'],
        own.env,
      )
      const document = JSON.parse(stdout) as { rows: { student: string }[] }
      expect(faultsOf('lab-grade', document)).toEqual([])
      expect(document.rows.map(({ student }) => student)).toEqual(['ada', 'bob'])
      expect(stderr).toMatch(/Array \d+ on kl: 2 of 2 tasks done/)
      // The last job has no submission left to grade.
      expect(stderr).toContain('2 rows of earlier gradings of these submissions are reused')
      const here = await runBundle(words.slice(0, -1), own.env)
      expect([here.code, here.stderr]).toEqual([2, expect.stringContaining('--tasks requires')])
    },
  )

  it.concurrent(
    'distributes a sweep over tasks, and ranks the measurements of all tasks together',
    { tags: ['thorough'] },
    async () => {
      const axes = ['--param', 'BM=32,64,128', '--param', 'TM=4,8', '--seconds', '0.05']
      const rung = ['--ladder', 'gemm-fp32', '--rung', '04_thread_tile_1d', '--size', '1024']
      const { code, stdout, stderr } = await runBundle(
        ['tune', ...rung, ...axes, '--target', 'kl', '--tasks', '3', '--json'],
        own.env,
      )
      expect(code, stderr).toBe(0)
      const document = JSON.parse(stdout) as { rows: object[]; resumed: number; winner: object }
      expect(faultsOf('tune', document)).toEqual([])
      // The last job times the best points again and has no other points to measure.
      expect(document.resumed).toBe(document.rows.length)
      expect(document.rows.length).toBeGreaterThan(1)
      expect(document.winner).not.toBeNull()
      expect(stderr).toMatch(/Array \d+ on kl: 3 of 3 tasks done/)
      const ssh = await runBundle(['tune', ...rung, '--tasks', '3'], own.env)
      expect([ssh.code, ssh.stderr]).toEqual([2, expect.stringContaining('--tasks requires')])
    },
  )

  it('reports sbatch errors, and leaves no files on the cluster', async () => {
    const jobs = (): Promise<string[]> => readdir(join(own.dir, 'remote/kernel-ladder/jobs'))
    const before = await jobs()
    const { code, stderr } = await runBundle([...words, 'nowhere'], own.env)
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/Slurm on nowhere rejected the job: .*Invalid partition name/),
    ])
    const file = join(own.env.KERNEL_LADDER_CONFIG!, 'machines.yaml')
    const text = await readFile(file, 'utf8')
    const add = ['machine', 'add', 'more', '--slurm', '--partition']
    expect((await runBundle([...add, 'nowhere'], own.env)).code).toBe(2)
    expect(await readFile(file, 'utf8')).toBe(text)
    expect(await jobs()).toEqual(before)
    expect((await runBundle([...add, 'gpu', '--time', '5'], own.env)).code).toBe(0)
    const listed = await runBundle(['machine', 'list', '--json'], own.env)
    const document = JSON.parse(listed.stdout) as { machines: object[] }
    expect(faultsOf('machines', document)).toEqual([])
    expect(document.machines).toContainEqual({
      name: 'more',
      slurm: { partition: 'gpu', gres: 'gpu:1', time: '5', options: [] },
      before: [],
      after: [],
    })
  })

  it(
    'reports a job missing from the queue and the accounting as lost, not as done',
    { tags: ['thorough'] },
    async () => {
      const run = start([...words, 'forgotten'], own.env, bundle)
      await run.says('verify 3/3 02_coalesced')
      await own.forget()
      const { code, stderr } = await run.finished
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('Neither the queue nor the accounting lists the job anymore.'),
      ])
    },
  )
})

describe('machine add --slurm', () => {
  it.each([
    ['a partition with a shell in it', ['--slurm', '--partition', '$(reboot)'], /--partition must/],
    ['an option that it sets itself', ['--slurm', '--sbatch=--output=x'], /--sbatch must/],
    ['a partition without Slurm', ['--ssh', 'x', '--partition', 'gpu'], /requires --slurm/],
  ])('rejects %s', async (_, options, why) => {
    const { code, stderr } = await run(['machine', 'add', 'kl', ...options], {
      KERNEL_LADDER_CONFIG: join(tmpdir(), 'kernel-ladder-none'),
    })
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)])
  })
})
