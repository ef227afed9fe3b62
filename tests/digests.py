"""What the loops in use make of many codes: one hash for each pair of formats. Run as a program, as JSON."""

from __future__ import annotations

import hashlib
import json

import numpy as np

import lutcast

POLICIES = ((None, None), ("toward_negative", "saturate"), ("to_odd", None))
FORMATS = [f for f in lutcast.formats() if f.kind != "complex"]


def some_codes(fmt: lutcast.Format) -> np.ndarray:
    """Return all codes of a narrow format; of a wide one many that are near a tie or an end."""
    word = np.dtype(f"u{fmt.itemsize}")
    if fmt.is_narrow:
        return np.arange(1 << fmt.bits, dtype=word)
    random = np.random.default_rng(fmt.bits)
    codes = random.integers(0, fmt.mask, 20_000, dtype=word, endpoint=True)
    if fmt.kind == "int":
        codes >>= random.integers(0, fmt.bits, codes.size, dtype=word)
    width = random.integers(0, fmt.bits, codes.size, dtype=word)
    beside = random.integers(-1, 2, codes.size).astype(word)
    return np.concatenate([codes, codes >> width << width, (codes >> width << width) + beside])


def digests() -> dict[str, str]:
    """Return the hash of the casts of every pair, under several policies."""
    result = {}
    for src in FORMATS:
        codes = some_codes(src)
        for dst in lutcast.formats():
            digest = hashlib.sha256()
            for rounding, overflow in POLICIES:
                digest.update(lutcast.cast(codes, dst, src=src, rounding=rounding, overflow=overflow).tobytes())
                digest.update(lutcast.cast(codes[1:40], dst, src=src, rounding=rounding, overflow=overflow).tobytes())
            result[f"{src.name} to {dst.name}"] = digest.hexdigest()
    return result


if __name__ == "__main__":
    print(json.dumps({"variant": lutcast.show_config("dicts")["kernels"]["in use"], "digests": digests()}))
