/** What a lab puts into buffers in place of its task's own fills. */
import { describe, expect, it } from 'vitest'
import { readKernelLibrary } from '../../../src-main/adapters/kernels/kernel-library'
import { readShippedLabs } from '../../../src-main/adapters/labs/library'
import { withInputs } from '../../../src-main/domain/labs/lab'

const library = await readKernelLibrary(new URL('../../../cuda-kernels', import.meta.url).pathname)
const softmax = library.tasks.get('softmax')!
const fill = { kind: 'uniform', lo: '60', hi: '100' } as const

describe('the inputs of a lab', () => {
  it('replace the fill of their buffer, and nothing else of the task', () => {
    const { task, faults } = withInputs(softmax, { x: fill })
    expect(faults).toEqual([])
    expect(task).toEqual({
      ...softmax,
      buffers: { ...softmax.buffers, x: { ...softmax.buffers['x'], fill } },
    })
    expect(Object.keys(task.buffers)).toEqual(Object.keys(softmax.buffers))
  })

  it('are in the library that the lab is run with, and in no other', async () => {
    const { labs } = await readShippedLabs(library)
    const fillOf = (id: string) =>
      labs.find((one) => one.id === id)!.library.tasks.get('softmax')!.buffers['x']!.fill
    expect(fillOf('15-online-softmax')).toEqual({ kind: 'uniform', lo: 60, hi: 100 })
    expect(fillOf('13-reduction')).toEqual(softmax.buffers['x']!.fill)
  })

  it.each([
    ['of a buffer that is not there', { q: fill }, 'reads no buffer named q'],
    ['of a result', { y: fill }, 'reads no buffer named y'],
    ['from a file', { x: { kind: 'file', path: 'x.npy' } as const }, 'cannot fill a buffer'],
    ['of a name that is not known', { x: { ...fill, hi: 'nope' } }, 'nope'],
  ])('are refused %s', (_, inputs, why) => {
    expect(
      withInputs(softmax, inputs)
        .faults.map(({ message }) => message)
        .join(),
    ).toContain(why)
  })
})
