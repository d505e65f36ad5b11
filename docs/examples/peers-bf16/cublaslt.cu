// @rung    cublaslt
// @title   cuBLASLt
// @idea    cuBLASLt runs the first kernel that it proposes
// @param   FAST 1 {0,1}
// @dtype   bf16
#include "gemm-nt/70_cublaslt_nt.cu"
