// @rung    04_tma
// @title   matmul_4
// @idea    one warpgroup computes and another loads, on the default stream
// @requires sm_90a
#include "fast.cuh"

#include "matmul_4.cuh"

KL_LAUNCH(runKernel4)
