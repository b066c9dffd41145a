"""Deep learning from the ground up: computation graphs that run on NumPy or on a GPU."""

from pkgutil import extend_path

# Parts of the package may lie in several folders; a file that two of them have comes from the first.
__path__ = extend_path(__path__, __name__)
