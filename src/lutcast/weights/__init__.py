"""Weight files: safetensors, .npy, .npz and ONNX models, converted tensor by tensor.

`convert` turns the floating-point tensors of a file into another format, `convert_checkpoint`
those of a whole checkpoint, and `verify_checkpoint` compares the two; `open_safetensors` reads a
file of any safetensors formats, float8, float6 and float4 included, without copies.
"""

from .checkpoint import Difference, Verification, convert_checkpoint, verify_checkpoint
from .convert import Progress, convert
from .errors import SafetensorsError, WeightsError
from .measures import Measures
from .report import FileReport, Report, TensorReport
from .safetensors_file import open_safetensors
from .tensors import Contents, Entry, Tensor

__all__ = [
    "Contents",
    "Difference",
    "Entry",
    "FileReport",
    "Measures",
    "Progress",
    "Report",
    "SafetensorsError",
    "Tensor",
    "TensorReport",
    "Verification",
    "WeightsError",
    "convert",
    "convert_checkpoint",
    "open_safetensors",
    "verify_checkpoint",
]
