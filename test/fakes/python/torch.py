"""A fake of the torch functions that rungs need, built on numpy. GPU tensors are arrays in this process's memory."""
import contextlib
import ctypes
import os
import types

import numpy

__version__ = "2.11.0"
float32, uint8 = numpy.float32, numpy.uint8
_mode = 0


class Tensor(numpy.ndarray):
    device = "cuda:0"

    def copy_(self, other):
        self[...] = other
        return self

    def cpu(self):
        if _mode == 2:
            raise RuntimeError("called a synchronizing CUDA operation")
        return self.copy()


def from_dlpack(buffer):
    assert buffer.__dlpack_device__() == (2, 0)
    capsule = buffer.__dlpack__(stream=7, max_version=(1, 0))
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    words = ctypes.cast(get(capsule, b"dltensor"), ctypes.POINTER(ctypes.c_int32))
    # Byte offsets in DLTensor: data 0, device 8 and 12, dimensions 16, code and bits 20, extents 24.
    address = ctypes.cast(words, ctypes.POINTER(ctypes.c_void_p))[0]
    extents = ctypes.cast(ctypes.cast(words, ctypes.POINTER(ctypes.c_void_p))[3], ctypes.POINTER(ctypes.c_int64))
    shape = extents[: words[4]]
    kind = {(0, 32): "<i4", (2, 32): "<f4", (2, 64): "<f8", (1, 8): "u1"}[(words[5] & 255, words[5] >> 8 & 255)]
    count = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
    memory = (ctypes.c_byte * count).from_address(address)
    return numpy.frombuffer(memory, kind).reshape(shape).view(Tensor)


def softmax(x, dim, out=None):
    value = numpy.exp(x - x.max(axis=dim, keepdims=True))
    result = (value / value.sum(axis=dim, keepdims=True)).view(Tensor)
    if out is None:
        return result
    if out.dtype != result.dtype:
        raise RuntimeError(f"expected out tensor to have dtype {result.dtype}, but got {out.dtype} instead")
    out[...] = result
    return out


def _set(mode):
    global _mode
    _mode = mode


@contextlib.contextmanager
def _stream(stream):
    print(f"on the stream {stream}")
    yield


cuda = types.SimpleNamespace(
    is_available=lambda: os.environ.get("FAKE_GPU", "1") == "1",
    init=lambda: None,
    synchronize=lambda: None,
    get_sync_debug_mode=lambda: _mode,
    set_sync_debug_mode=_set,
    ExternalStream=lambda address: address,
    stream=_stream,
)
