LOOPS: dict[str, int]
USES_STEPS: bool
USES_F16C: bool
