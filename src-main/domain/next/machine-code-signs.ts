/**
 * Detects how a kernel loads and multiplies tiles, and whether it uses atomics. Uses machine code
 * if available, otherwise counters.
 */
import type { Facts } from './facts'

const has = ({ opcodes }: Facts, pattern: RegExp): boolean | null =>
  opcodes === null ? null : [...opcodes.keys()].some((family) => pattern.test(family))

/**
 * Returns whether TMA (the tensor memory accelerator) loads tiles. Without machine code, DRAM
 * traffic without per-thread global loads indicates TMA.
 */
export const usesCopyEngine = (facts: Facts): boolean =>
  has(facts, /^(UTMALDG|UBLKCP|UTMASTG)$/) ??
  ((facts.value('globalLoadSectorsPerRequest') ?? -1) === 0 && (facts.value('dramBytes') ?? 0) > 0)

/**
 * Returns whether cp.async or TMA fills shared memory. Without machine code, shared loads without
 * shared stores indicate asynchronous copies.
 */
export const stagesAsynchronously = (facts: Facts): boolean =>
  usesCopyEngine(facts) ||
  (has(facts, /^LDGSTS$/) ??
    ((facts.value('sharedLoads') ?? 0) > 0 && facts.value('sharedStoreWavefronts') === 0))

/**
 * Returns whether warpgroups multiply directly from shared memory (WGMMA). Without machine code, a
 * busy tensor pipe with almost no per-thread loads indicates WGMMA.
 */
export const usesWarpgroups = (facts: Facts): boolean =>
  has(facts, /^(HGMMA|QGMMA|IGMMA|BGMMA|UTCHMMA|UTCQMMA)$/) ??
  ((facts.busy.tensor ?? 0) > 0.05 && (facts.busy.lsu ?? 1) < 0.03)

/**
 * Returns whether the kernel uses atomics on global memory. Searches the source if there is no
 * machine code. Returns false if neither machine code nor source is available.
 */
export const usesGlobalAtomics = (facts: Facts): boolean =>
  has(facts, /^(RED|REDG|ATOM|ATOMG)$/) ??
  /\batomic(Add|Inc|Max|Min|CAS|Or)\s*\(/.test(facts.source ?? '')
