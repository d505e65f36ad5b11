/** The forecast of the last change that the user tried, stored until the result arrives. */
import { defineStore } from 'pinia'
import { computed } from 'vue'
import { parseForecast, type Forecast } from '../../src-main/domain/next/forecast'
import { storedText } from '../ui/preferences'

export const useForecastStore = defineStore('forecast', () => {
  const kept = storedText('forecast')
  const forecast = computed(() => parseForecast(kept.value))
  function keep(next: Forecast): void {
    kept.value = JSON.stringify(next)
  }
  return { forecast, keep }
})
