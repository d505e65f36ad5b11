// @rung    gemm_bf16_80
// @title   80_overlapped_epilogue_nt of gemm-bf16
// @idea    a tile's results are stored while the next tile is multiplied
// @param   GROUP 8 {1,2,4,8,16}
// @param   DEFERRED 2 {1,2,3,4,6,8}
// @dtype   bf16
// @requires sm_90a
#include "gemm-nt/80_overlapped_epilogue_nt.cu"
