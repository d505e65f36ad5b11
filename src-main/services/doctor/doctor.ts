/**
 * Checks whether this machine can build, run, and profile rungs. Returns a remedy for each missing
 * requirement.
 */
import { delimiter, join } from 'node:path'
import { type Statement, message, together } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import type { Assets } from '../../adapters/catalog/assets'
import type { Machine } from '../../adapters/machine/machine'
import { sanitizerVersionPattern } from '../../adapters/tools/compute-sanitizer'
import type { NvidiaSmi } from '../../adapters/tools/gpus'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { DoctorCheck, DoctorReport } from '../../contract/index'
import { orOtherTarget, queryDriver, remedies } from '../bench/tools'
import { probeCounters } from './counter-probe'

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
    const { message: why, remedy } = toErrorShape(orOtherTarget(error))
    return {
      driver: null,
      checks: [
        check('gpu', 'GPU', 'missing', why, remedy),
        check('driver', 'Driver', 'missing', message('doctor.noDriver'), remedies.gpu),
      ],
    }
  }
}

const countersRemedy = message('doctor.allowCounters')

/**
 * Whether this process has CAP_SYS_ADMIN (bit 21) in its effective set. Child processes inherit
 * this capability.
 */
async function hasSysAdmin(machine: Machine): Promise<boolean> {
  const status = await machine.readText('/proc/self/status')
  const hex = /^CapEff:\s*([0-9a-f]+)/m.exec(status ?? '')?.[1]
  return hex !== undefined && ((BigInt(`0x${hex}`) >> 21n) & 1n) === 1n
}

/**
 * Reports which users may read counters, according to the driver module. Only a probe can confirm
 * that counters are accessible.
 */
async function permissionCheck(machine: Machine): Promise<DoctorCheck> {
  const label = 'Counter permission'
  const params = await machine.readText('/proc/driver/nvidia/params')
  const adminOnly = params === null ? null : /^RmProfilingAdminOnly:\s*(\d)/m.exec(params)?.[1]
  if (adminOnly == null)
    return check('counters', label, 'unknown', message('doctor.countersUnknown'))
  if (adminOnly === '0') return check('counters', label, 'ok', message('doctor.countersAll'))
  return (await hasSysAdmin(machine))
    ? check('counters', label, 'ok', message('doctor.countersAdminHere'))
    : check('counters', label, 'missing', message('doctor.countersAdmin'), countersRemedy)
}

async function countersCheck(
  machine: Machine,
  toolbox: Toolbox,
  driver: NvidiaSmi | null,
  kernelsDir: string,
): Promise<DoctorCheck> {
  const permission = await permissionCheck(machine)
  const [nvcc, ncu] = await Promise.all([toolbox.locate('nvcc'), toolbox.locate('ncu')])
  if (permission.status === 'missing' || !driver || !nvcc || !ncu) return permission
  const failure = await probeCounters({ toolbox, cache: machine.cache, ncu, kernelsDir })
  return failure
    ? check('counters', permission.label, 'missing', failure.message, failure.remedy)
    : check(
        'counters',
        permission.label,
        'ok',
        together(permission.detail, message('doctor.counterRead')),
      )
}

async function cublasCheck(machine: Machine): Promise<DoctorCheck> {
  const folders = [
    ...(machine.variable('LD_LIBRARY_PATH') ?? '').split(delimiter).filter(Boolean),
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
      if (await machine.exists(path)) return check('cublas', 'cuBLAS', 'ok', path)
    }
  return check(
    'cublas',
    'cuBLAS',
    'warning',
    message('doctor.noCublas'),
    message('doctor.installCublas'),
  )
}

export async function diagnose(
  machine: Machine,
  { kernelsDir }: Pick<Assets, 'kernelsDir'>,
): Promise<DoctorReport> {
  const toolbox = machine.toolbox(null)
  const driver = await driverChecks(toolbox)
  const [nvcc, ncu, counters, cublas, sanitizer] = await Promise.all([
    toolCheck(toolbox, 'nvcc', 'CUDA compiler', /\bV(\d[\d.]*)/),
    toolCheck(toolbox, 'ncu', 'Nsight Compute', /Version\s+([\d.]+)/),
    countersCheck(machine, toolbox, driver.driver, kernelsDir),
    cublasCheck(machine),
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
