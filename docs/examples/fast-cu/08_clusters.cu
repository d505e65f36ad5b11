// @rung    08_clusters
// @title   matmul_8
// @after   06_larger_tile
// @idea    blocks of a cluster share their loads
// @requires sm_90a
#include "fast.cuh"

#include "matmul_8.cuh"

KL_LAUNCH(runKernel8)
