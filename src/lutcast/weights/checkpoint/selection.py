"""Which tensors of a checkpoint are converted, and why others are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from lutcast.formats import FLOAT8_E8M0FNU, Format

from .options import Options

#: Names of scales and zero points: whoever multiplies by them expects them as they are.
SCALES = (
    *("*.weight_scale", "*.weight_scale_[0-9]", "*.weight_global_scale", "*_scale_inv", "*.scale_weight"),
    *("*.scale_input", "*.input_scale", "*.input_global_scale", "*.activation_scale", "*.output_scale"),
    *("*.[kvq]_scale", "*.scale", "*.scales", "*_scales", "*.zero_point", "*_zero_point", "*.zeros", "*.qzeros"),
    *("*.scaled_fp8", "scaled_fp8"),
)

#: Groups that `keep` knows by a word.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "norms": ("*norm*", "*.ln_*", "*.ln[0-9]*", "*LayerNorm*"),
    "embeddings": ("*embed*", "*.wte.*", "*.wpe.*", "wte.*", "wpe.*"),
    "routers": ("*router*", "*.gate.weight", "*.gate.e_score_correction_bias"),
    "heads": ("lm_head.*", "*.lm_head.*", "score.*", "classifier.*"),
    "biases": ("*.bias",),
}


def reason_to_keep(name: str, fmt: Format | None, options: Options) -> str | None:
    """Return why a tensor is copied, None where it is converted.

    A tensor that is not a real float, or is a scale or zero point, is converted only where a
    pattern of ``include`` names it: matches it, and has no wildcard after its last dot.
    """
    if fmt is None:
        return "not a number format"
    if _match(name, options.exclude):
        return "excluded"
    if _match(name, _expanded(options.keep)):
        return "kept"
    if options.include and not _match(name, options.include):
        return "not included"
    if _match(name, filter(_is_literal, options.include)):
        return None
    if fmt.kind != "float":
        return f"not real floats ({fmt.name})"
    if fmt is FLOAT8_E8M0FNU or _match(name, SCALES):
        return "scales and zero points"
    return None


def unmatched(names: Iterable[str], options: Options) -> list[str]:
    """Return a note for each pattern, groups apart, that matches none of the names."""
    names = list(names)
    return [
        f"{option}: {pattern!r} matches no tensor"
        for option in ("include", "exclude", "keep")
        for pattern in getattr(options, option)
        if not (option == "keep" and pattern in GROUPS) and not any(_match(name, (pattern,)) for name in names)
    ]


def _expanded(patterns: Iterable[str]) -> list[str]:
    return [pattern for item in patterns for pattern in GROUPS.get(item, (item,))]


def _match(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _is_literal(pattern: str) -> bool:
    return not set("*?[") & set(pattern.rpartition(".")[2])
