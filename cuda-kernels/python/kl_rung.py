"""The Python side of a rung: passes tensors on the task's buffers to the script's kl_launch(task).

kl_rung.h runs this file once per rung and problem. HOOKS is the address of a KlPythonHooks. The tensors are from torch,
or from CuPy with `# @package cupy`. Work runs on the runner's stream, which is the package's current stream."""
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

# Each compile thread would be a process that outlives the rung.
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
    """Does nothing, because the runner owns the memory."""


INT, UINT, FLOAT, BFLOAT = 0, 1, 2, 4
CPU, CUDA = 1, 2
# Eight-bit floats are passed as bytes. Packages that support eight-bit floats view the bytes as floats.
KINDS = {
    "f64": (FLOAT, 64), "f32": (FLOAT, 32), "f16": (FLOAT, 16), "bf16": (BFLOAT, 16), "e4m3": (UINT, 8),
    "e5m2": (UINT, 8), "i8": (INT, 8), "i16": (INT, 16), "i32": (INT, 32), "i64": (INT, 64), "u8": (UINT, 8),
    "u16": (UINT, 16), "u32": (UINT, 32), "u64": (UINT, 64),
}

# Install commands for the packages that a rung may import.
REMEDIES = {"torch": "pip install torch", "triton": "pip install torch triton", "cupy": "pip install cupy-cuda13x"}


class Buffer:
    """A buffer of the task, as a DLPack producer. It outlives every tensor on its memory."""

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


# Objects whose addresses C code holds until the process ends.
KEPT = sys.__dict__.setdefault("_kl_rungs", [])


class Torch:
    """The torch package, for PyTorch and Triton rungs."""

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
        """Sets whether operations may wait for the GPU or raise an error, for all rungs of the process."""
        mode = 0 if allowed else 2
        if self.torch.cuda.get_sync_debug_mode() != mode:
            self.torch.cuda.set_sync_debug_mode(mode)

    def described(self, value):
        if isinstance(value, self.torch.Tensor):
            return f"a tensor of {str(value.dtype).removeprefix('torch.')} on {value.device}"
        return None


class Cupy:
    """The CuPy package. It has no bf16 or 8-bit floats, so those are unsigned integers of the same size."""

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
    """The reason the rung cannot run on this machine: a sentence without its period."""


class Wrong(Exception):
    """The way in which the rung breaks its contract: a sentence without its period."""


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
        # All bits of an output are 1 before the first launch. Only an integer result can keep all bits
        # set.
        self.fresh = [one.name for one in buffers if one.access == "out" and one.address and KINDS[one.dtype][0] in (FLOAT, BFLOAT)]
        self.task = types.SimpleNamespace(**numbers, **spec["words"], **self.given)

    def about(self):
        names = [f"{module.__name__} {module.__version__}" for module in self.package.modules]
        return ", ".join([f"Python {platform.python_version()}", *names])

    def prepare(self, stream):
        """Imports the script and launches it until all compilation is done."""
        # Each script needs its own module, because compilers look up the module of a function.
        name = f"kl_rung_{len(KEPT)}"
        spec = importlib.util.spec_from_file_location(name, self.script)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        self.function = getattr(sys.modules[name], "kl_launch", None)
        if not callable(self.function):
            raise Wrong(f"{os.path.basename(self.script)} does not define kl_launch(task)")
        # The first launch compiles the kernels. Some of torch's compilers also record the second launch.
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
    """Returns an exception as one sentence, with its line in the rung's script."""
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
            except BaseException as error:  # includes SystemExit: no exception may leave a callback
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
