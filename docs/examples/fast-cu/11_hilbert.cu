// @rung    11_hilbert
// @title   matmul_11
// @after   08_clusters
// @idea    tiles are computed in the order of a Hilbert curve
// @requires sm_90a
#include "fast.cuh"

#include "matmul_11.cuh"

KL_LAUNCH(runKernel11)
