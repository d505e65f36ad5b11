# @rung    00_cudnn
# @title   cuDNN through PyTorch
# @idea    this PyTorch call, which programs use today, is the baseline for the other rungs
# @package torch
# @dtype   bf16
# @param   FLASH 0 {0,1}
import ctypes

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)


class Place:
    """A memory pool for one result. PyTorch's attention has no `out=` parameter, so the pool returns the task's own
    buffer for the result. No copy is then timed. All other allocations come from the driver."""

    def __init__(self, result):
        self.result, self.streams, self.driver = result, set(), ctypes.CDLL("libcuda.so.1")
        self.callbacks = ALLOCATE(self.allocate), FREE(self.free)
        addresses = [ctypes.cast(one, ctypes.c_void_p).value for one in self.callbacks]
        self.allocator = torch._C._cuda_customAllocator(*addresses)
        self.pool = torch.cuda.MemPool(self.allocator)

    def allocate(self, size, _device, stream):
        # PyTorch caches one memory block per stream and calls this function again only if that block is in use.
        if size == self.result.nbytes and stream not in self.streams:
            self.streams.add(stream)
            return self.result.data_ptr()
        place = ctypes.c_uint64()
        return None if self.driver.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(size)) else place.value

    def free(self, place, _size, _device, _stream):
        if place != self.result.data_ptr():
            self.driver.cuMemFree_v2(ctypes.c_uint64(place))


places = {}


def kl_launch(task):
    if task.o.data_ptr() not in places:
        places[task.o.data_ptr()] = Place(task.o)
    place = places[task.o.data_ptr()]
    q, k, v = (one.unsqueeze(0) for one in (task.q, task.k, task.v))
    # MATH is the fallback for cases without a backend kernel. cuDNN has no kernel for a single token.
    backends = [SDPBackend.FLASH_ATTENTION if task.FLASH else SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH]
    with torch.no_grad(), torch.cuda.use_mem_pool(place.pool), sdpa_kernel(backends, set_priority=True):
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=task.causal != 0)
    # PyTorch rounds small allocations up to its reservation size, so the pool does not return the task's buffer for
    # them.
    if o.data_ptr() != task.o.data_ptr():
        task.o.copy_(o[0])
