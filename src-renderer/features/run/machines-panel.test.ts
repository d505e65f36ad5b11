import { describe, expect, it } from 'vitest'
import { machineRequest, stateOf } from './machines-panel'

const key = { hostname: '10.0.0.7', user: 'ada', port: '22', fingerprint: 'ssh-ed25519 SHA256:a' }
const fields = { name: ' titan ', host: ' ada@titan ', slurm: false, partition: 'gpu' }

describe('the form that adds a machine', () => {
  it('trusts the key that was shown, and no key that ssh knows', () => {
    const titan = { name: 'titan', host: 'ada@titan', slurm: null }
    expect(machineRequest(fields, { ...key, known: false })).toEqual({
      ...titan,
      fingerprint: 'ssh-ed25519 SHA256:a',
    })
    expect(machineRequest(fields, { ...key, known: true })).toEqual({ ...titan, fingerprint: null })
  })

  it('asks for Slurm with its partition, or with the site’s default', () => {
    const slurm = (partition: string) =>
      machineRequest({ ...fields, slurm: true, partition }, { ...key, known: true }).slurm
    expect([slurm(' gpu '), slurm('')]).toEqual([{ partition: 'gpu' }, {}])
  })

  it('says why a machine is not reached', () => {
    expect(stateOf({ error: null })).toEqual({ state: 'ok' })
    const error = { kind: 'missing' as const, message: 'titan does not answer.' }
    expect(stateOf({ error })).toEqual({ state: 'unreachable', why: 'titan does not answer.' })
  })
})
