#include "gemm-nt/reference.cu"
