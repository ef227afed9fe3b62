#!/usr/bin/env python3
"""Compare an inference server that casts by lutcast with the same one casting by NumPy and ml_dtypes.

    bench_serving.py MODEL.onnx [--seconds 15] [--windows 256]

MODEL.onnx is silero-vad's silero_vad_16k_sequence.onnx; the server is tests/serving/server.py. Each of them is
driven for the same time, in turn, by four clients over the loopback.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import ml_dtypes

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from driving import body, drive, serving, windows

DTYPES = {"bfloat16": ml_dtypes.bfloat16, "float8_e4m3fn": ml_dtypes.float8_e4m3fn}


def main() -> int:
    """Print a line for each library and format; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--windows", type=int, default=256)
    options = parser.parse_args()
    lost = 0
    for name, dtype in DTYPES.items():
        requests = [body(windows(seed, options.windows).astype(dtype), name) for seed in range(8)]
        for library in ("ml_dtypes", "lutcast"):
            with serving(options.model, library) as port:
                drive(port, requests, 2.0)
                traffic = drive(port, requests, options.seconds)
            lost += len(traffic.failures)
            casts = sum(answer[2]["casts"] for answer in traffic.answers) / len(traffic.answers)
            print(
                f"{name:14} {library:10} {traffic.per_second():7.1f} requests/s, "
                f"casts {1e6 * casts:8.1f} us a request, {traffic.share():.3%} of casts and model, "
                f"{len(traffic.failures)} lost"
            )
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
