"""The loops as functions over typed memoryviews: for tests, checks and cimport."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from lutcast._kernels.loop cimport Loop, Params
from lutcast._kernels.pipeline cimport read_params

ctypedef fused code:
    uint8_t
    uint16_t

ctypedef fused value:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused word:
    uint16_t
    uint32_t
    uint64_t


def lookup(loops, const code[::1] src, const value[::1] table, value[::1] dst):
    """Look every code of ``src`` up: ``dst[i] = table[src[i]]``."""
    if src.shape[0] != dst.shape[0]:
        raise ValueError(f"dst: {dst.shape[0]} elements given, {src.shape[0]} are needed")
    if table.shape[0] != 1 << (8 * sizeof(code)):
        raise ValueError(f"table: {table.shape[0]} entries given, {1 << (8 * sizeof(code))} are needed")
    cdef Loop loop = <Loop><uintptr_t>loops[f"lookup_{8 * sizeof(code)}_{8 * sizeof(value)}"]
    cdef Params params
    if src.shape[0] == 0:
        return
    params.table = &table[0]
    params.pieces = NULL
    params.direction = -1
    with nogil:
        loop(&src[0], &dst[0], src.shape[0], &params)


def bitcode(loops, str name, const word[::1] src, value[::1] dst, dict params):
    """Run the loop of bit code of that name; the params are those of `lutcast.plan`."""
    if src.shape[0] != dst.shape[0]:
        raise ValueError(f"dst: {dst.shape[0]} elements given, {src.shape[0]} are needed")
    cdef Loop loop = <Loop><uintptr_t>loops[name]
    cdef Params fields = read_params(params)
    if src.shape[0] == 0:
        return
    with nogil:
        loop(&src[0], &dst[0], src.shape[0], &fields)


def pack(loops, const uint8_t[::1] src, uint8_t[::1] dst, int bits):
    """Pack codes of 2, 4 or 6 bits."""
    if dst.shape[0] != (src.shape[0] * bits + 7) // 8:
        raise ValueError(f"dst: {dst.shape[0]} bytes given for {src.shape[0]} codes of {bits} bits")
    cdef Loop loop = <Loop><uintptr_t>loops[f"pack_{bits}"]
    if src.shape[0]:
        with nogil:
            loop(&src[0], &dst[0], src.shape[0], NULL)


def unpack(loops, const uint8_t[::1] src, uint8_t[::1] dst, int bits):
    """Unpack codes of 2, 4 or 6 bits."""
    if src.shape[0] != (dst.shape[0] * bits + 7) // 8:
        raise ValueError(f"src: {src.shape[0]} bytes given for {dst.shape[0]} codes of {bits} bits")
    cdef Loop loop = <Loop><uintptr_t>loops[f"unpack_{bits}"]
    if dst.shape[0]:
        with nogil:
            loop(&src[0], &dst[0], dst.shape[0], NULL)
