// @rung    gemm_bf16_79
// @title   79_serpentine_nt of gemm-bf16
// @idea    tiles are computed in serpentine order, so inputs stay in L2
// @param   GROUP 8 {1,2,4,8,16}
// @dtype   bf16
// @requires sm_90a
#include "gemm-nt/79_serpentine_nt.cu"
