import { expect, it } from 'vitest'
import { leadFigure, rateText, shareText } from '../../../src-main/domain/analysis/lead-figure'
import { replay } from '../../stores/run-state'
import { messages } from '../../../test/renderer/samples'
import { eventLog, fakeMachine } from '../../../test/services/support'
import { runColumns } from './run-columns'

async function replayed(recording: string, ladder: string) {
  const machine = await fakeMachine()
  const { events, emit } = eventLog()
  await machine.run({ ladder, target: `recorded:${recording}`, size: undefined }, { emit })
  const { told, rungs } = replay(messages('run-1', events))!
  const results = rungs.flatMap(({ result }) => result ?? [])
  const { lead, metrics, ratios } = runColumns(told, results)
  const before = runColumns(told, [])
  const [fastest] = results
    .map((rung) => leadFigure(told, rung, lead)!)
    .sort((a, b) => b.rate.value! - a.rate.value!)
  return { fastest: fastest!, metrics, ratios, before }
}

it('a run of a memory-bound task is shown by bytes per second and their share of DRAM', async () => {
  const { fastest, metrics, ratios, before } = await replayed('layer-norm-h200', 'layer-norm')
  expect(rateText(fastest)).toMatch(/ [TG]B\/s$/)
  expect(shareText(fastest)).toMatch(/^\d+\.\d %$/)
  expect(metrics).toEqual(['achievedOccupancy', 'dramUtilization', 'sharedLoads'])
  expect(before.metrics).toEqual(metrics)
  expect(ratios).toBe(false)
})

it('the counter that its profile level does not collect has no column', async () => {
  const { metrics, before } = await replayed('reduction-h200-4194304', 'reduction')
  expect(before.metrics).toContain('dramUtilization')
  expect(metrics).toEqual(['achievedOccupancy', 'sharedLoads'])
})

it('a run that arithmetic bounds is shown by operations per second', async () => {
  const { fastest, metrics, ratios } = await replayed('gemm-tensor-h200-8192', 'gemm-tensor')
  expect(rateText(fastest)).toMatch(/ TFLOP\/s$/)
  expect(metrics).not.toContain('dramUtilization')
  expect(metrics).not.toContain('fmaUtilization')
  expect(ratios).toBe(true)
})
