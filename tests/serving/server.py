"""An inference server as its users write them: silero-vad under LitServe, 8- or 16-bit floats on the wire.

    python server.py MODEL.onnx PORT [--cast-with ml_dtypes]

A request is JSON: ``format``, ``shape`` (windows of 576 samples) and ``data``, the codes in base64. The
answer has the probability of speech in each window, as bfloat16, and the seconds that casts and the
model took.
"""

from __future__ import annotations

import argparse
import base64
import time
from collections.abc import Callable
from typing import Any

import litserve
import ml_dtypes
import numpy as np
import onnxruntime
from numpy.typing import NDArray

Cast = Callable[[NDArray[Any]], NDArray[Any]]


def casts_of(library: str) -> tuple[dict[str, Cast], Cast]:
    """Return the casts to float32 by the format on the wire, and the one back to bfloat16."""
    if library == "lutcast":
        import lutcast

        formats = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float16")
        return {name: lutcast.caster(name, "float32") for name in formats}, lutcast.caster("float32", "bfloat16")

    def reader(dtype: Any) -> Cast:
        return lambda codes: codes.view(dtype).astype(np.float32)

    dtypes = (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.float16)
    return {np.dtype(d).name: reader(d) for d in dtypes}, lambda x: x.astype(ml_dtypes.bfloat16)


class SpeechAPI(litserve.LitAPI):
    """Tells speech from silence."""

    def __init__(self, model: str, library: str) -> None:
        super().__init__()
        self._model, self._library = model, library

    def setup(self, device: str) -> None:
        """Load the model and make the casts, once for each worker."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(self._model, options, ["CPUExecutionProvider"])
        self.from_wire, self.to_wire = casts_of(self._library)

    def decode_request(self, request):  # LitServe passes JSON to what has no annotations
        """Turn the codes of a request into float32."""
        codes = np.frombuffer(base64.b64decode(request["data"]), f"u{2 if '16' in request['format'] else 1}")
        start = time.perf_counter()
        values = self.from_wire[request["format"]](codes)
        return {"values": values.reshape(request["shape"]), "casts": time.perf_counter() - start}

    def predict(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Run the model on the windows of a request."""
        state = np.zeros((1, 1, 128), np.float32)
        start = time.perf_counter()
        (speech,) = self.session.run(["speech_probs"], {"input": batch["values"], "h": state, "c": state})
        return {**batch, "speech": speech, "model": time.perf_counter() - start}

    def encode_response(self, output: dict[str, Any]) -> dict[str, Any]:
        """Turn the probabilities into codes."""
        start = time.perf_counter()
        codes = self.to_wire(np.ascontiguousarray(output["speech"], np.float32))
        seconds = {"casts": output["casts"] + time.perf_counter() - start, "model": output["model"]}
        return {"data": base64.b64encode(codes.tobytes()).decode(), "seconds": seconds}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("port", type=int)
    parser.add_argument("--cast-with", choices=["lutcast", "ml_dtypes"], default="lutcast")
    arguments = parser.parse_args()
    server = litserve.LitServer(SpeechAPI(arguments.model, arguments.cast_with), accelerator="cpu", timeout=60)
    server.run(host="127.0.0.1", port=arguments.port, generate_client_file=False, log_level="warning")
