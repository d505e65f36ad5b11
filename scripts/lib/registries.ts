/** Exports the registries that the reference documents are generated from. */
import * as gpus from '../../src-main/domain/gpu/gpu-table'
import * as messages from '../../src-main/domain/messages/message'
import * as definition from '../../src-main/domain/metrics/metric-definition'
import * as metrics from '../../src-main/domain/metrics/metrics'
import * as targets from '../../src-main/domain/targets/targets'
import * as gpuFiles from '../../src-main/domain/prediction/gpu-parameters'
import * as parameters from '../../src-main/domain/prediction/parameter-table'
import * as problem from '../../src-main/domain/task/problem'
import * as wording from '../../src-main/domain/text/english'
import { registriesOf } from './reference-docs.mjs'

export const registries = registriesOf({
  metrics,
  definition,
  messages,
  wording,
  gpus,
  targets,
  problem,
  parameters,
  gpuFiles,
})
