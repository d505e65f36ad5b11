import { expect, it } from 'vitest'
import type { Reply } from '../../src-main/contract'
import { createClient } from './client'
import { CoreError, LineError } from './errors'

const clientWith = (answer: () => Promise<Reply<unknown>>) =>
  createClient(
    { kind: 'web', call: answer, subscribe: () => () => undefined },
    { 'run.current': 20 },
  )

it('gives the value of a good answer', async () => {
  const client = clientWith(() =>
    Promise.resolve({ ok: true, value: { messages: [], active: false } }),
  )
  await expect(client.call('run.current', {})).resolves.toEqual({ messages: [], active: false })
})

it("throws the core's error with its remedy", async () => {
  const client = clientWith(() =>
    Promise.resolve({ ok: false, error: { kind: 'input', message: 'No.', remedy: 'Do.' } }),
  )
  await expect(client.call('run.current', {})).rejects.toMatchObject({
    constructor: CoreError,
    message: 'No.',
    remedy: 'Do.',
  })
})

it('throws for an answer that is not what the contract says', async () => {
  const client = clientWith(() => Promise.resolve({ ok: true, value: { messages: 'none' } }))
  await expect(client.call('run.current', {})).rejects.toMatchObject({
    constructor: LineError,
    fault: 'malformed',
  })
})

it('gives up after the time limit', async () => {
  const client = clientWith(() => new Promise(() => undefined))
  await expect(client.call('run.current', {})).rejects.toMatchObject({ fault: 'timeout' })
})
