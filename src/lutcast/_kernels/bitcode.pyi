LOOPS: dict[str, int]
USES_AVX512: bool
