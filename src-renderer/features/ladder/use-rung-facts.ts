/**
 * Names and values of the facts about a rung's build, verification, and timing, and about the
 * program that it ran.
 */
import { computed } from 'vue'
import { timeNotes } from '../../../src-main/domain/analysis/time-notes'
import { message } from '../../../src-main/domain/messages/message'
import { formatBytes } from '../../../src-main/domain/metrics/units'
import { gpuStateWords, throttleStatement } from '../../../src-main/domain/report/gpu-state-words'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { bufferTitle, elementPlace } from '../../../src-main/domain/task/task'
import { figureText, plusMinus } from '../../ui/format'
import { useStatement } from '../../ui/statement'
import { t } from '../../ui/words'

export function useRungFacts(session: () => Session, rung: () => RungResult) {
  const { text } = useStatement()
  const bytes = (value: number | null) =>
    value === null ? t('details.notReported') : formatBytes(value)
  const clock = (value: number | null) =>
    value === null ? t('details.notReported') : `${value} MHz`

  /**
   * Returns the launched kernel's register count, as on other screens. The text also includes the
   * compiler's maximum if it differs.
   */
  function registersText(most: number | null): string {
    const launched = rung().metrics['registersPerThread']?.value ?? null
    if (launched === null || launched === most)
      return most === null ? t('details.notReported') : String(most)
    return most === null ? String(launched) : t('details.registersMost', { launched, most })
  }

  const build = computed(() => {
    const found = rung().build
    if (!found) return []
    return [
      {
        name: t('details.registers'),
        value: registersText(found.registersPerThread),
        tip: t('details.registersTip'),
      },
      { name: t('details.staticShared'), value: bytes(found.staticSharedBytes) },
      {
        name: t('details.spills'),
        value: t('details.spillsValue', {
          stores: bytes(found.spillStoreBytes),
          loads: bytes(found.spillLoadBytes),
        }),
      },
      {
        name: t('details.compiled'),
        value: t(found.cached ? 'details.compiledCached' : 'details.compiledNow', {
          seconds: figureText(found.seconds, 's'),
        }),
      },
      {
        name: t('details.source'),
        value: rung().file,
        tip: t('details.sourceHash', { hash: rung().sourceHash }),
      },
    ]
  })

  const verify = computed(() => {
    const found = rung().verify
    if (!found) return []
    const first = found.firstMismatch
    const { task } = session().ladder
    const titles = (buffers: readonly string[]) =>
      buffers.map((buffer) => bufferTitle(task, buffer)).join(', ')
    return [
      {
        name: t('details.result'),
        value: rung().program
          ? t(found.passed ? 'details.asExpected' : 'details.notExpected')
          : t(found.passed ? 'details.passed' : 'details.wrong'),
      },
      {
        name: t('details.worstError'),
        value: found.worstRelativeError?.toExponential(2) ?? t('details.notFinite'),
        tip: t('details.worstErrorTip'),
      },
      ...(found.mismatches > 0
        ? [{ name: t('details.mismatches'), value: String(found.mismatches) }]
        : []),
      ...(first
        ? [
            {
              name: t('details.firstMismatch'),
              value: t('details.firstMismatchValue', {
                place: elementPlace(task, first.buffer, first.index),
                expected: first.expected ?? 'NaN',
                actual: first.actual ?? 'NaN',
              }),
            },
          ]
        : []),
      ...(found.outOfBounds.length > 0
        ? [
            {
              name: t('details.bounds'),
              value: t('details.outOfBounds', { buffers: titles(found.outOfBounds) }),
            },
          ]
        : []),
      ...(found.changedInputs.length > 0
        ? [
            {
              name: t('details.inputs'),
              value: t('details.changedInputs', { buffers: titles(found.changedInputs) }),
            },
          ]
        : []),
    ]
  })

  const program = computed(() => {
    const found = rung().program
    if (!found) return []
    return [
      { name: t('details.command'), value: found.command.join(' ') },
      ...(found.exitCode === null
        ? []
        : [{ name: t('details.exitCode'), value: String(found.exitCode) }]),
      ...(found.output
        ? [
            {
              name: t('details.output'),
              value: t('details.outputValue', {
                file: found.output.file,
                bytes: formatBytes(found.output.bytes),
              }),
              tip: t('details.sourceHash', { hash: found.output.sha256 }),
            },
          ]
        : []),
    ]
  })

  const timing = computed(() => {
    const found = rung().timing
    if (!found) return []
    const state = [gpuStateWords(found.gpu), throttleStatement(found.gpu)].flatMap((said) =>
      said === null ? [] : text(said),
    )
    return [
      {
        name: t('details.median'),
        value: `${figureText(found.medianMs, 'ms')} ${plusMinus(found.spread)}`,
        tip: t('details.spreadTip'),
      },
      {
        name: t('details.samples'),
        value: `${found.samples}, ${t(found.settled ? 'details.settled' : 'details.unsettled')}`,
      },
      { name: t('details.l2'), value: text(message(`cacheState.${found.cacheState}`)) },
      ...(timeNotes(found).length > 0
        ? [{ name: t('details.timeNotes'), value: timeNotes(found).map(text).join(', ') }]
        : []),
      ...(found.emptyMs == null
        ? []
        : [
            {
              name: t('details.emptyMs'),
              value: figureText(found.emptyMs, 'ms'),
              tip: t('provenance.empty', { ms: figureText(found.emptyMs, 'ms') }),
            },
          ]),
      ...(found.gpuMs == null
        ? []
        : [
            {
              name: t('details.gpuMs'),
              value: figureText(found.gpuMs, 'ms'),
              tip: t('details.gpuMsTip'),
            },
          ]),
      // Clocks are not read while a program runs.
      ...(rung().program
        ? []
        : [
            {
              name: t('details.smClock'),
              value: `${clock(found.smClockBeforeMHz)} → ${clock(found.smClockAfterMHz)}`,
            },
          ]),
      ...(state.length > 0 ? [{ name: t('details.gpuState'), value: state.join('. ') }] : []),
    ]
  })
  return { build, verify, program, timing }
}
