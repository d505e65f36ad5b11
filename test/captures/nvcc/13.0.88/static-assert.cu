template <int BM, int TM> __global__ void k(float* c) {
  static_assert(BM % TM == 0, "BM must be a multiple of TM");
  c[threadIdx.x] = BM / TM;
}
void launch(float* c) { k<64, 7><<<1, 32>>>(c); }
