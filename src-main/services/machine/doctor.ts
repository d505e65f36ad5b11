/** What this machine has for building, running and profiling, and what to do where it lacks something. */
import { access, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { sanitizerVersionPattern } from '../../adapters/tools/compute-sanitizer'
import type { NvidiaSmi } from '../../adapters/tools/nvidia-smi'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { DoctorCheck, DoctorReport } from '../../contract'
import { message, together, type Statement } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import { probeCounters, type CounterProbe } from './counter-probe'
import { queryDriver, remedies } from '../run/device'

const check = (
  id: DoctorCheck['id'],
  label: string,
  status: DoctorCheck['status'],
  detail: Statement,
  remedy?: Statement,
): DoctorCheck => ({ id, label, status, detail, ...(remedy ? { remedy } : {}) })

const remedyOf = {
  nvcc: remedies.nvcc,
  ncu: remedies.ncu,
  'compute-sanitizer': remedies.sanitizer,
} as const

async function toolCheck(
  toolbox: Toolbox,
  tool: 'nvcc' | 'ncu' | 'compute-sanitizer',
  label: string,
  version: RegExp,
): Promise<DoctorCheck> {
  const path = await toolbox.locate(tool)
  if (!path)
    return check(
      tool,
      label,
      tool === 'compute-sanitizer' ? 'warning' : 'missing',
      message('doctor.toolMissing', { tool }),
      remedyOf[tool],
    )
  const answer = await toolbox.exec({
    tool,
    key: `${tool}/version`,
    file: path,
    args: ['--version'],
    timeoutMs: 60_000,
  })
  const found = version.exec(answer.stdout)?.[1]
  return found
    ? check(tool, label, 'ok', `${found} (${path})`)
    : check(
        tool,
        label,
        'warning',
        message('doctor.noVersion', {
          file: path,
          text: (answer.stderr || answer.stdout).trim().split('\n')[0] ?? '',
        }),
        message('doctor.askVersion', { file: path }),
      )
}

async function driverChecks(
  toolbox: Toolbox,
): Promise<{ checks: DoctorCheck[]; driver: NvidiaSmi | null }> {
  try {
    const driver = await queryDriver(toolbox)
    const names = driver.gpus.map(({ name }) => name).join(', ')
    return {
      driver,
      checks: [
        check('gpu', 'GPU', 'ok', names),
        check('driver', 'Driver', 'ok', `${driver.driver}, CUDA ${driver.cuda ?? 'unknown'}`),
      ],
    }
  } catch (error) {
    const { message: why, remedy } = toErrorShape(error)
    return {
      driver: null,
      checks: [
        check('gpu', 'GPU', 'missing', why, remedy),
        check('driver', 'Driver', 'missing', message('doctor.noDriver'), remedies.gpu),
      ],
    }
  }
}

export const countersRemedy = message('doctor.allowCounters')

const readText = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null)

/** CAP_SYS_ADMIN (bit 21) is in the effective set of this process, and so of what it starts. */
async function hasSysAdmin(): Promise<boolean> {
  const hex = /^CapEff:\s*([0-9a-f]+)/m.exec((await readText('/proc/self/status')) ?? '')?.[1]
  return hex !== undefined && ((BigInt(`0x${hex}`) >> 21n) & 1n) === 1n
}

/** What the driver's module says of who may read counters; the last word has a probe. */
async function permissionCheck(): Promise<DoctorCheck> {
  const label = 'Counter permission'
  const params = await readText('/proc/driver/nvidia/params')
  const adminOnly = params === null ? null : /^RmProfilingAdminOnly:\s*(\d)/m.exec(params)?.[1]
  if (adminOnly == null)
    return check('counters', label, 'unknown', message('doctor.countersUnknown'))
  if (adminOnly === '0') return check('counters', label, 'ok', message('doctor.countersAll'))
  return (await hasSysAdmin())
    ? check('counters', label, 'ok', message('doctor.countersAdminHere'))
    : check('counters', label, 'missing', message('doctor.countersAdmin'), countersRemedy)
}

async function countersCheck(
  toolbox: Toolbox,
  driver: NvidiaSmi | null,
  build: DoctorBuild | null,
): Promise<DoctorCheck> {
  const permission = await permissionCheck()
  const [nvcc, ncu] = await Promise.all([toolbox.locate('nvcc'), toolbox.locate('ncu')])
  if (permission.status === 'missing' || !driver || !nvcc || !ncu || !build) return permission
  const failure = await probeCounters({ toolbox, nvcc, ncu, ...build })
  return failure
    ? check('counters', permission.label, 'missing', failure.message, failure.remedy)
    : check(
        'counters',
        permission.label,
        'ok',
        together(permission.detail, message('doctor.counterRead')),
      )
}

async function cublasCheck(): Promise<DoctorCheck> {
  const folders = [
    ...(process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter(Boolean),
    '/usr/local/cuda/lib64',
    '/usr/local/cuda/targets/x86_64-linux/lib',
    '/usr/local/cuda/targets/sbsa-linux/lib',
    '/usr/lib/x86_64-linux-gnu',
    '/usr/lib/aarch64-linux-gnu',
    '/usr/lib64',
  ]
  for (const folder of folders)
    for (const version of ['13', '12', '11']) {
      const path = join(folder, `libcublas.so.${version}`)
      const there = await access(path).then(
        () => true,
        () => false,
      )
      if (there) return check('cublas', 'cuBLAS', 'ok', path)
    }
  return check(
    'cublas',
    'cuBLAS',
    'warning',
    message('doctor.noCublas'),
    message('doctor.installCublas'),
  )
}

/** What building the runner takes, so that a counter can be read for a trial. */
export type DoctorBuild = Pick<CounterProbe, 'cache' | 'kernelsDir'>

/** Without `build` no counter is read for a trial. */
export async function diagnose(
  toolbox: Toolbox,
  build: DoctorBuild | null = null,
): Promise<DoctorReport> {
  const driver = await driverChecks(toolbox)
  const [nvcc, ncu, counters, cublas, sanitizer] = await Promise.all([
    toolCheck(toolbox, 'nvcc', 'CUDA compiler', /\bV(\d[\d.]*)/),
    toolCheck(toolbox, 'ncu', 'Nsight Compute', /Version\s+([\d.]+)/),
    countersCheck(toolbox, driver.driver, build),
    cublasCheck(),
    toolCheck(toolbox, 'compute-sanitizer', 'Compute Sanitizer', sanitizerVersionPattern),
  ])
  const canRun = driver.driver !== null && nvcc.status !== 'missing'
  return {
    checks: [
      ...driver.checks,
      nvcc,
      ncu,
      counters,
      cublas,
      sanitizer,
      check('node', 'Node.js', 'ok', process.versions.node),
    ],
    gpus: (driver.driver?.gpus ?? []).map(({ name, memoryTotalBytes }) => ({
      name,
      memoryTotalBytes,
    })),
    canRun,
    canProfile: canRun && ncu.status !== 'missing' && counters.status !== 'missing',
  }
}
