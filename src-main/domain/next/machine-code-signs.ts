/** Detects how a kernel moves its tiles. Uses machine code if available, otherwise counters. */
import type { Facts } from './facts'

const has = ({ opcodes }: Facts, pattern: RegExp): boolean | null =>
  opcodes === null ? null : [...opcodes.keys()].some((family) => pattern.test(family))

/**
 * Returns whether the copy engine (TMA) loads tiles. Without machine code, tensor work or shared
 * loads without per-thread global loads indicate it.
 */
export const usesCopyEngine = (facts: Facts): boolean =>
  has(facts, /^(UTMALDG|UBLKCP|UTMASTG)$/) ??
  ((facts.value('globalLoadSectorsPerRequest') ?? -1) === 0 && (facts.value('dramBytes') ?? 0) > 0)

/**
 * Returns whether cp.async or the copy engine fills shared memory. Without machine code, tiles that
 * no store instruction wrote indicate it.
 */
export const stagesAsynchronously = (facts: Facts): boolean =>
  usesCopyEngine(facts) ||
  (has(facts, /^LDGSTS$/) ??
    ((facts.value('sharedLoads') ?? 0) > 0 && facts.value('sharedStoreWavefronts') === 0))

/**
 * Returns whether warpgroups multiply directly from shared memory (WGMMA). Without machine code,
 * tensor work with almost no per-thread loads indicates it.
 */
export const usesWarpgroups = (facts: Facts): boolean =>
  has(facts, /^(HGMMA|QGMMA|IGMMA|BGMMA|UTCHMMA|UTCQMMA)$/) ??
  ((facts.busy.tensor ?? 0) > 0.05 && (facts.busy.lsu ?? 1) < 0.03)

/**
 * Returns whether the kernel runs atomics on global memory. Without machine code, searches the
 * source. Without both, returns false.
 */
export const usesGlobalAtomics = (facts: Facts): boolean =>
  has(facts, /^(RED|REDG|ATOM|ATOMG)$/) ??
  /\batomic(Add|Inc|Max|Min|CAS|Or)\s*\(/.test(facts.source ?? '')
