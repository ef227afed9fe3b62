"""The structs of ``dlpack.h`` in ctypes, and capsules made of them: a second reading of the header."""

import ctypes
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import ClassVar

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [c_void_p, ctypes.c_char_p, c_void_p]
api.PyCapsule_GetPointer.restype = c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.py_object]


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
        ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
        ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    )  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, c_void_p)


class Legacy(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", c_void_p), ("deleter", Deleter))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", Deleter),
        ("flags", c_uint64), ("tensor", Tensor),
    )  # fmt: skip


def name_of(capsule):
    return api.PyCapsule_GetName(capsule).decode()


def struct_of(capsule):
    """Return the struct that a capsule holds; it is not consumed by that."""
    name = name_of(capsule)
    kind = Versioned if name.endswith("_versioned") else Legacy
    struct = kind.from_address(api.PyCapsule_GetPointer(capsule, name.encode()))
    struct.kept = capsule  # which owns it
    return struct


class Given:
    """An object that gives a capsule made before."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, max_version=None):
        return self.capsule


class Producer(Given):
    """A foreign producer: any field of its capsule can be set; it counts the calls of its deleter."""

    alive: ClassVar[list] = []  # for good: a deleter may be called after the last mention of its producer

    def __init__(self, array, element, *, is_versioned=True, name=None, device=(1, 0), **fields):
        self.alive.append(self)
        self.array = array
        self.deleted = []
        self.device = device
        self._kept = [Deleter(self.deleted.append)]
        self.struct = Versioned(major=1, minor=1) if is_versioned else Legacy()
        self.struct.deleter = self._kept[0]
        self.name = (name or ("dltensor_versioned" if is_versioned else "dltensor")).encode()
        tensor = self.struct.tensor
        tensor.data, tensor.device_type, tensor.device_id = array.ctypes.data, 1, 0
        tensor.ndim, (tensor.code, tensor.bits, tensor.lanes) = array.ndim, element
        tensor.shape = self.numbers(array.shape)
        tensor.strides = self.numbers(stride // array.itemsize for stride in array.strides)
        for field, value in fields.items():
            is_sizes = field in ("shape", "strides") and value is not None
            setattr(
                tensor if hasattr(tensor, field) else self.struct, field, self.numbers(value) if is_sizes else value
            )
        super().__init__(api.PyCapsule_New(ctypes.addressof(self.struct), self.name, None))

    def numbers(self, values):
        values = tuple(values)
        block = (c_int64 * max(len(values), 1))(*values)
        self._kept.append(block)
        return ctypes.cast(block, POINTER(c_int64))

    def __dlpack_device__(self):
        return self.device
