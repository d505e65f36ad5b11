// @rung    gemm_fp8_81
// @title   81_promoted_nt of gemm-fp8
// @idea    sums of 128 products are added in FP32 registers
// @param   GROUP 8 {1,2,4,8,16}
// @dtype   e4m3
// @requires sm_90a
#include "gemm-nt/81_promoted_nt.cu"
