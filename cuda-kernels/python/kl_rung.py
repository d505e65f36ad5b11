"""The Python side of a rung: gives its script tensors on the task's own buffers, and calls its kl_launch(task).

kl_rung.h runs this file once for each rung and problem, with HOOKS, the address of a KlPythonHooks. The tensors are
torch's, or CuPy's with `# @package cupy`; work goes on the runner's stream, which is the package's current one."""
import contextlib
import ctypes
import importlib
import importlib.util
import json
import os
import platform
import sys
import traceback
import types

# Each of its threads would be a process that outlives the rung.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

CALL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class Hooks(ctypes.Structure):
    _fields_ = [
        ("spec", ctypes.c_char_p),
        ("prepare", CALL),
        ("launch", CALL),
        ("refused", ctypes.c_char_p),
        ("about", ctypes.c_char_p),
        ("ready", ctypes.c_int),
    ]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def release(_):
    """The memory is the runner's."""


INT, UINT, FLOAT, BFLOAT = 0, 1, 2, 4
CPU, CUDA = 1, 2
# Eight-bit floats are passed on as bytes, and viewed as floats by those packages that have them.
KINDS = {
    "f64": (FLOAT, 64), "f32": (FLOAT, 32), "f16": (FLOAT, 16), "bf16": (BFLOAT, 16), "e4m3": (UINT, 8),
    "e5m2": (UINT, 8), "i8": (INT, 8), "i16": (INT, 16), "i32": (INT, 32), "i64": (INT, 64), "u8": (UINT, 8),
    "u16": (UINT, 16), "u32": (UINT, 32), "u64": (UINT, 64),
}

# How to install what a rung imports.
REMEDIES = {"torch": "pip install torch", "triton": "pip install torch triton", "cupy": "pip install cupy-cuda13x"}


class Buffer:
    """A buffer of the task, as a producer of DLPack. It outlives every tensor on it."""

    def __init__(self, name, dtype, shape, address, access, device=CUDA):
        self.name, self.dtype, self.shape, self.address, self.access = name, dtype, tuple(shape), address, access
        self.device = device
        self._extents = (ctypes.c_int64 * len(shape))(*shape)

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, stream=None, **_):
        code, bits = KINDS[self.dtype]
        own = DLManagedTensor()
        own.tensor = DLTensor(self.address, self.device, 0, len(self.shape), code, bits, 1, self._extents, None, 0)
        own.deleter = ctypes.cast(release, ctypes.c_void_p)
        KEPT.append(own)
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return capsule(ctypes.byref(own), b"dltensor", None)


# What C code holds the address of, for as long as the process lives.
KEPT = sys.__dict__.setdefault("_kl_rungs", [])


class Torch:
    """Tensors of torch, for PyTorch and Triton."""

    def __init__(self, name):
        import torch

        self.torch, self.byte, self.streams = torch, torch.uint8, {}
        self.modules = [torch] + ([importlib.import_module("triton")] if name == "triton" else [])
        if not torch.cuda.is_available():
            raise Refused(f"torch {torch.__version__} sees no GPU; install a build with CUDA that this driver supports")
        torch.cuda.init()

    def tensor(self, buffer):
        tensor = self.torch.from_dlpack(buffer)
        floats = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
        return tensor.view(getattr(self.torch, floats[buffer.dtype])) if buffer.dtype in floats else tensor

    def on(self, stream):
        if stream not in self.streams:
            self.streams[stream] = self.torch.cuda.ExternalStream(stream)
        return self.torch.cuda.stream(self.streams[stream])

    def synchronize(self):
        self.torch.cuda.synchronize()

    def allow_waiting(self, allowed):
        """Whether operations that wait for the GPU raise, for all rungs of the process."""
        mode = 0 if allowed else 2
        if self.torch.cuda.get_sync_debug_mode() != mode:
            self.torch.cuda.set_sync_debug_mode(mode)

    def described(self, value):
        if isinstance(value, self.torch.Tensor):
            return f"a tensor of {str(value.dtype).removeprefix('torch.')} on {value.device}"
        return None


class Cupy:
    """Arrays of CuPy, which has no bf16 and no 8-bit floats: those are unsigned integers of their size."""

    def __init__(self, _name):
        self.cupy = importlib.import_module("cupy")
        self.modules, self.byte = [self.cupy], self.cupy.uint8

    def tensor(self, buffer):
        if buffer.dtype == "bf16":
            buffer = Buffer(buffer.name, "u16", buffer.shape, buffer.address, buffer.access, buffer.device)
        return self.cupy.from_dlpack(buffer)

    def on(self, stream):
        return self.cupy.cuda.ExternalStream(stream)

    def synchronize(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def allow_waiting(self, allowed):
        pass

    def described(self, value):
        return f"an array of {value.dtype}" if hasattr(value, "dtype") else None


class Refused(Exception):
    """The rung cannot run here; a sentence without its period."""


class Wrong(Exception):
    """The rung does not keep to its contract; a sentence without its period."""


def open_package(name):
    try:
        return (Cupy if name == "cupy" else Torch)(name)
    except ImportError as error:
        missing = (error.name or name).split(".")[0]
        if missing not in REMEDIES:
            raise Refused(f"{name} cannot be imported: {error}") from error
        raise Refused(f"{missing} is not installed for the python3 on PATH; {REMEDIES[name]}, or activate the environment that has it") from error


class Rung:
    def __init__(self, spec):
        self.script = spec["script"]
        self.package = open_package(spec["package"])
        buffers = [Buffer(**one) for one in spec["buffers"]]
        numbers = {**spec["numbers"], **{name: float(value) for name, value in spec["reals"].items()}}
        self.given = {one.name: self.package.tensor(one) if one.address else None for one in buffers}
        self.results = [one.name for one in buffers if one.access != "in" and one.address]
        # An output begins with all bits set, which is a result only among integers.
        self.fresh = [one.name for one in buffers if one.access == "out" and one.address and KINDS[one.dtype][0] in (FLOAT, BFLOAT)]
        self.task = types.SimpleNamespace(**numbers, **spec["words"], **self.given)

    def about(self):
        names = [f"{module.__name__} {module.__version__}" for module in self.package.modules]
        return ", ".join([f"Python {platform.python_version()}", *names])

    def prepare(self, stream):
        """Imports the script and launches it until nothing is compiled any more."""
        # A module of its own: compilers look up where a function is from.
        name = f"kl_rung_{len(KEPT)}"
        spec = importlib.util.spec_from_file_location(name, self.script)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        self.function = getattr(sys.modules[name], "kl_launch", None)
        if not callable(self.function):
            raise Wrong(f"{os.path.basename(self.script)} does not define kl_launch(task)")
        # The first launch compiles; some of torch's compilers record during the second.
        for _ in range(3):
            self.enqueue(stream, may_wait=True)
            self.package.synchronize()
        for name in self.fresh:
            flat = self.given[name].reshape(-1)
            ends = [flat[:4096], flat[-4096:]]
            if all(bool((end.view(self.package.byte) == 255).all()) for end in ends):
                raise Wrong(f"kl_launch wrote nothing into task.{name}; {self.advice(name)}")

    def launch(self, stream):
        self.enqueue(stream, may_wait=False)

    def enqueue(self, stream, may_wait):
        self.package.allow_waiting(may_wait)
        with self.package.on(stream) if stream else contextlib.nullcontext():
            returned = self.function(self.task)
        if returned is not None:
            self.check_result("kl_launch returned", returned)
        for name, tensor in self.given.items():
            if getattr(self.task, name, None) is not tensor:
                other = getattr(self.task, name, None)
                setattr(self.task, name, tensor)
                self.check_result(f"kl_launch set task.{name} to", other)

    def check_result(self, what, value):
        words = self.package.described(value) or type(value).__name__
        raise Wrong(f"{what} {words}; {self.advice(self.results[0])}")

    def advice(self, name):
        copy = f"task.{name}[...] = …" if isinstance(self.package, Cupy) else f"task.{name}.copy_(…)"
        return f"a result is written into the buffer itself: {copy}, or out=task.{name}"


def said(error, script):
    """An exception in one sentence, with its place in the rung's script."""
    if isinstance(error, (Refused, Wrong)):
        return str(error)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == script]
    place = f" ({os.path.basename(script)}:{lines[-1]})" if lines else ""
    text = " ".join(str(error).split("\n\n")[0].split())[:400]
    if "synchronizing CUDA operation" in text:
        return f"kl_launch waits for the GPU in each launch, as .cpu(), .item() and copies from the host do{place}"
    if isinstance(error, SyntaxError):
        return f"{os.path.basename(script)} is not valid Python: line {error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {text}{place}"


def connect(hooks):
    spec = json.loads(hooks.spec.decode())
    script = spec["script"]
    texts = {}

    def kept(key, text):
        texts[key] = ctypes.create_string_buffer(text.encode())
        return ctypes.addressof(texts[key])

    def guarded(work):
        def call(stream):
            try:
                work(stream)
            except BaseException as error:  # SystemExit as well: no exception leaves a callback
                if not isinstance(error, (Refused, Wrong)):
                    traceback.print_exc()
                return kept("failure", said(error, script))
            return None

        return CALL(call)

    try:
        rung = Rung(spec)
        hooks.about = rung.about().encode()
        hooks.prepare, hooks.launch = guarded(rung.prepare), guarded(rung.launch)
    except Exception as error:
        hooks.refused = said(error, script).encode()
    hooks.ready = 1
    KEPT.append((texts, hooks))


if "HOOKS" in globals():
    connect(Hooks.from_address(HOOKS))  # noqa: F821
