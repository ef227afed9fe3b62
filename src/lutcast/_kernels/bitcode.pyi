LOOPS: dict[str, int]
