"""Weight files: safetensors, .npy, .npz and ONNX models, converted tensor by tensor.

`convert` turns the floating-point tensors of a file into another format; `open_safetensors`
reads a file of any safetensors formats, float8, float6 and float4 included, without copies.
"""

from .convert import Progress, convert
from .errors import SafetensorsError, WeightsError
from .report import Report, TensorReport
from .safetensors_file import open_safetensors
from .tensors import Contents, Entry, Tensor

__all__ = [
    "Contents",
    "Entry",
    "Progress",
    "Report",
    "SafetensorsError",
    "Tensor",
    "TensorReport",
    "WeightsError",
    "convert",
    "open_safetensors",
]
