"""What the drivers of the C interface share: its functions, guarded memory, random calls."""
