// @rung    fast_cu_11
// @title   matmul_11 of fast.cu
// @idea    fast.cu's own launcher starts kernel 11
// @dtype   bf16
// @requires sm_90a
#include "fast_cu.cuh"

#include "matmul_11.cuh"

KL_LAUNCH_NT(runKernel11)
