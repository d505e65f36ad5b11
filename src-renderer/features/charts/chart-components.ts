/** Maps each chart to the component that draws it. */
import type { Component } from 'vue'
import MixChart from './MixChart.vue'
import OccupancyChart from './OccupancyChart.vue'
import RooflineChart from './RooflineChart.vue'
import StallChart from './StallChart.vue'
import StudyChart from './StudyChart.vue'
import SweepChart from './SweepChart.vue'
import TrafficChart from './TrafficChart.vue'
import WaveChart from './WaveChart.vue'
import type { ChartId } from '../../../src-main/domain/report/chart-drawings'

export const chartComponents: Record<ChartId, Component> = {
  roofline: RooflineChart,
  stalls: StallChart,
  mix: MixChart,
  traffic: TrafficChart,
  occupancy: OccupancyChart,
  waves: WaveChart,
  sweep: SweepChart,
  study: StudyChart,
}
