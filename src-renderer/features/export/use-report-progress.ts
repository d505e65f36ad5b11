/** Polls the core twice a second for a report's progress and elapsed time. */
import { computed, onScopeDispose, ref, watch, type Ref } from 'vue'
import { t } from '../../ui/words'
import { useClient } from '../../client/client'
import type { ReportStage } from '../../../src-main/contract/reports'

export function useReportProgress(making: Ref<boolean>) {
  const stage = ref<ReportStage>('content')
  const seconds = ref(0)
  let timer: ReturnType<typeof setInterval> | undefined

  async function ask(startedAt: number): Promise<void> {
    seconds.value = Math.floor((performance.now() - startedAt) / 1000)
    // Ignore a failed poll, because the report's own call will report the error.
    const answer = await useClient()
      .call('report.current', {})
      .catch(() => null)
    if (answer?.stage) stage.value = answer.stage
  }

  watch(making, (isMaking) => {
    clearInterval(timer)
    if (!isMaking) return
    stage.value = 'content'
    seconds.value = 0
    const startedAt = performance.now()
    timer = setInterval(() => void ask(startedAt), 500)
  })
  onScopeDispose(() => clearInterval(timer))

  const progress = computed(() =>
    making.value ? t(`export.stage.${stage.value}`, { seconds: seconds.value }) : '',
  )
  return { progress }
}
