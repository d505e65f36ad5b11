// @rung    gemm_fp8_80
// @title   80_overlapped_epilogue_nt of gemm-fp8
// @idea    a tile's results are stored while the next tile is multiplied
// @param   GROUP 8 {1,2,4,8,16}
// @param   DEFERRED 2 {1,2,3,4,6,8}
// @dtype   e4m3
// @requires sm_90a
#include "gemm-nt/80_overlapped_epilogue_nt.cu"
