/**
 * Renamed rungs of built-in ladders: current id by former id. Requests and sessions may use the
 * current or the former id. Built-in recordings use the current id (`npm run recordings --
 * rename`).
 */
export const formerIds: Readonly<Record<string, string>> = {
  // gemm-fp32
  '10_conflict_free': '07_conflict_free',
  '11_warp_tile': '08_warp_tile',
  '11_half_block': '08_half_block',
  '12_register_prefetch': '09_register_prefetch',
  '13_cp_async': '10_cp_async',
  '14_block_128x256': '11_block_128x256',
  '15_rasterized': '12_rasterized',
  '16_split_k': '13_split_k',
  '17_fastest': '14_shape_dispatch',
  // seed-cutlass, seed-rtx3090
  '18_transposed_conflicts': '20_transposed_conflicts',
  '18_padded': '20_padded',
  '19_sliced_k': '21_sliced_k',
  '19_unsliced': '21_unsliced',
  '21_unfused_epilogue': '22_unfused_epilogue',
  '20_fused_epilogue': '23_fused_epilogue',
  '20_fused_direct': '23_fused_direct',
  coarsen_stride_1: '39_stride_1',
  coarsen_stride_2: '39_stride_2',
  coarsen_stride_4: '39_stride_4',
  coarsen_stride_8: '39_stride_8',
  coarsen_stride_16: '39_stride_16',
  // gemm-tensor
  '58_mma_sync_persistent': '55_mma_sync_persistent',
  '55_wgmma_tma': '56_wgmma_tma',
  '56_warp_specialized': '57_warp_specialized',
  '57_persistent': '58_persistent',
  '59_results_held': '58_overlapped_epilogue',
  // gemm-bf16, gemm-fp8
  '74_specialized_nt': '74_warp_specialized_nt',
  '77_engine_store_nt': '77_tma_store_nt',
  '80_turning_bands_nt': '79_serpentine_nt',
  '81_deferred_nt': '80_overlapped_epilogue_nt',
  '79_promoted_nt': '81_promoted_nt',
  // attention
  '03_one_pass': '03_online_softmax',
  '06_taking_turns': '06_ping_pong',
  '20_torch_flash': '00_torch_flash',
  // reduction
  '04_add_while_loading': '04_first_add_on_load',
  '05_last_warp': '05_unrolled_last_warp',
  '06_unrolled': '06_fully_unrolled',
  '07_several_per_thread': '07_grid_stride',
  '09_shuffles': '09_warp_shuffles',
  '10_one_launch': '10_last_block',
  '11_published_sums': '11_flagged_sums',
  // scan
  '01_doubling': '01_hillis_steele',
  '05_wide_tiles': '05_vector_tiles',
  '07_look_back': '07_decoupled_look_back',
  '08_resident_blocks': '08_persistent_blocks',
  '09_deep_ring': '09_tma_ring',
  // softmax
  '20_triton': '08_triton',
  '21_torch_compile': '09_torch_compile',
  // transpose
  '09_sector_boxes': '09_tma_sectors',
}

/** Returns a rung's current id. */
export const currentId = (id: string): string =>
  Object.hasOwn(formerIds, id) ? formerIds[id]! : id

/**
 * Finds a rung by its current or former id. An exact match takes precedence, because a user's
 * ladder may use an id that a built-in rung had formerly.
 */
export const findById = <T extends { id: string }>(all: readonly T[], id: string): T | undefined =>
  all.find((one) => one.id === id) ?? all.find((one) => currentId(one.id) === currentId(id))
