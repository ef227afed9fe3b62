"""Checkpoints: files and folders of safetensors, converted shard by shard.

A plan comes first (`source`, `selection`, `ties`, `outputs`, `plan`, `preflight`); its jobs
(`shard_job`) run anywhere (`work`); a journal (`journal`, `resume`) makes a stopped conversion go on.
"""

from .convert import convert_checkpoint
from .verify import Difference, Verification, verify_checkpoint

__all__ = ["Difference", "Verification", "convert_checkpoint", "verify_checkpoint"]
