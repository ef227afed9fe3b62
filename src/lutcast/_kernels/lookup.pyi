LOOPS: dict[str, int]
USES_PIECES: bool
USES_F16C: bool
