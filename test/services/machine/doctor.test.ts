import { describe, expect, it } from 'vitest'
import type { DoctorCheck } from '../../../src-main/contract'
import { diagnose } from '../../../src-main/services/machine/doctor'
import { ncuFailures } from '../../fakes/ncu-failures.mjs'
import { fakeMachine, setEnv, type Machine } from '../support'
import { said } from '../../support'

async function counters({ setup }: Machine): Promise<DoctorCheck> {
  const { checks } = await diagnose(setup.machine, setup.assets)
  return checks.find(({ id }) => id === 'counters')!
}

// Whether this very process may read counters is the machine's affair, so only the trial is looked at.
describe("the doctor's trial of the counters", () => {
  it('reads one of a small kernel, through one ncu', async () => {
    const machine = await fakeMachine()
    const { detail, remedy } = await counters(machine)
    expect(said(detail)).toMatch(/ncu read a counter\.$/)
    expect(remedy).toBeUndefined()
    const trials = machine.calls('ncu').filter((call) => !call.includes('--version'))
    expect(trials).toHaveLength(1)
    expect(trials[0]!.slice(-1)).toEqual(['probe'])
  })

  it.each([
    ['counter-permission', /ERR_NVGPUCTRPERM/, /NVreg_RestrictProfilingToAdminUsers=0/],
    ['counters-busy', /DCGM/, /dcgmi profile --pause/],
    ['driver-library', /cannot load the driver's profiling library/, /same driver version/],
    ['driver-incompatible', /driver is too old/, /Update the driver/],
    ['application-failed', /failed with exit code 9/, /without profiling/],
    ['unknown-metric', /does not know the metric/, /CUDA 12 or later/],
    ['lock-file', /lock file/, /TMPDIR/],
    ['no-kernels', /profiled no kernel/, /without profiling/],
  ] as const)('recognises %s and says what to do', async (kind, detail, remedy) => {
    expect(Object.keys(ncuFailures)).toContain(kind)
    const machine = await fakeMachine()
    setEnv({ FAKE_NCU: kind })
    const found = await counters(machine)
    expect(found.status).toBe('missing')
    expect(said(found.detail)).toMatch(detail)
    expect(said(found.remedy)).toMatch(remedy)
  })

  it('is left out where there is nothing to try it with', async () => {
    const machine = await fakeMachine(['nvcc'])
    expect(said((await counters(machine)).detail)).not.toMatch(/ncu read a counter/)
    expect(machine.calls('ncu').filter((call) => !call.includes('--version'))).toEqual([])
  })
})
