// @rung    06_larger_tile
// @title   matmul_6
// @after   04_tma
// @idea    persistent blocks compute larger tiles
// @requires sm_90a
#include "fast.cuh"

#include "matmul_6.cuh"

KL_LAUNCH(runKernel6)
