/** Detects how a kernel moves its tiles, from machine code, or from counters if there is no code. */
import type { Facts } from './facts'

const has = ({ opcodes }: Facts, pattern: RegExp): boolean | null =>
  opcodes === null ? null : [...opcodes.keys()].some((family) => pattern.test(family))

/** Whether the copy engine (TMA) loads tiles. Without code: tensor work, or shared loads without global loads by threads. */
export const usesCopyEngine = (facts: Facts): boolean =>
  has(facts, /^(UTMALDG|UBLKCP|UTMASTG)$/) ??
  ((facts.value('globalLoadSectorsPerRequest') ?? -1) === 0 && (facts.value('dramBytes') ?? 0) > 0)

/** Whether cp.async or the copy engine fills shared memory. Without code: tiles that no store instruction wrote. */
export const stagesAsynchronously = (facts: Facts): boolean =>
  usesCopyEngine(facts) ||
  (has(facts, /^LDGSTS$/) ??
    ((facts.value('sharedLoads') ?? 0) > 0 && facts.value('sharedStoreWavefronts') === 0))

/** Whether a warpgroup multiplies directly from shared memory (WGMMA). Without code: tensor work with hardly any loads by threads. */
export const usesWarpgroups = (facts: Facts): boolean =>
  has(facts, /^(HGMMA|QGMMA|IGMMA|BGMMA|UTCHMMA|UTCQMMA)$/) ??
  ((facts.busy.tensor ?? 0) > 0.05 && (facts.busy.lsu ?? 1) < 0.03)

/** Whether the kernel runs atomics on global memory. Without code, searches the source; false without source. */
export const usesGlobalAtomics = (facts: Facts): boolean =>
  has(facts, /^(RED|REDG|ATOM|ATOMG)$/) ??
  /\batomic(Add|Inc|Max|Min|CAS|Or)\s*\(/.test(facts.source ?? '')
