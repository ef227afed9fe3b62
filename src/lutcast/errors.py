"""The one exception of lutcast's own."""


class UnsupportedCast(TypeError):
    """There is no cast of this kind between these two formats."""
