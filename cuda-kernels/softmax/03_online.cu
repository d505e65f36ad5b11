// @rung    03_online
// @title   Online: maximum and sum in one pass
// @after   02_block_per_row
// @idea    a sum that was begun with a smaller maximum is corrected by one factor: maximum and sum come from one pass, and
//          the row is read twice in place of three times. Warps combine by shuffles
// @expect  l2Bytes down
// @dtype   f32 bf16
// @param   THREADS 256 {128,256,512,1024}
#include "softmax_common.cuh"

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klForType(p, [=](auto type) {
    using T = decltype(type);
    klSoftmaxAnyShape<T, THREADS>
        <<<unsigned(p->ROWS), THREADS, 0, stream>>>(static_cast<const T*>(p->x), static_cast<T*>(p->y), p->COLS);
  });
}
