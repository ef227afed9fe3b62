"""The error of a file that cannot be read."""


class GoldenFileError(ValueError):
    """A golden or a dump that is damaged; the message names the line or the offset."""
