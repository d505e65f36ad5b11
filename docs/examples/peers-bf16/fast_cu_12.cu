// @rung    fast_cu_12
// @title   matmul_12 of fast.cu
// @idea    fast.cu's own launcher starts kernel 12
// @dtype   bf16
// @requires sm_90a
#include "fast_cu.cuh"

#include "matmul_12.cuh"

KL_LAUNCH_NT(runKernel12)
