"""The one exception of lutcast's own."""


class UnsupportedCast(TypeError):  # noqa: N818 - a public name
    """There is no cast of this kind between these two formats."""
