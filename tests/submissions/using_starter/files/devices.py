"""Where tensors lie, and how they get elsewhere. Each function takes one line or two.

A device is a torch.device or a name such as "cpu", "cuda" or "cuda:1".
"""


def choose_device():
    """A torch.device: the GPU if there is one, otherwise the CPU."""
    raise NotImplementedError("your code")


def zeros_on(shape, device):
    """Zeros of the default dtype, made where they are to lie: nothing is copied there."""
    raise NotImplementedError("your code")


def move(x, device):
    """x on a device. If it lies there already this is x itself, and nothing is copied."""
    raise NotImplementedError("your code")


def copy_to(x, device):
    """A copy of x on a device, also if x lies there already: whoever writes into it does not change x."""
    raise NotImplementedError("your code")


def filled_like(x, shape, value):
    """A new tensor that is full of `value`, on the device of x and with the dtype of x."""
    raise NotImplementedError("your code")


def can_add(x, y):
    """Whether x + y works without moving anything, for tensors whose shapes fit: True or False."""
    raise NotImplementedError("your code")


def add_on_first(x, y):
    """x + y on the device of x, wherever y lies."""
    raise NotImplementedError("your code")


def scale(x, factor):
    """x times `factor`, a tensor of no dimensions on the CPU. The result lies where x does; no copies."""
    raise NotImplementedError("your code")


def overwrite(target, source):
    """Write the values of `source` into `target`, which keeps its place and its dtype, and give `target`."""
    raise NotImplementedError("your code")


def move_module(module, device):
    """Move a module with everything in it, and give it: it is the same module afterwards."""
    raise NotImplementedError("your code")


def copy_module(module, device):
    """A copy of a module on a device; the module itself stays where it is."""
    raise NotImplementedError("your code")


def peer_copy(x, device):
    """x, which lies on a GPU, copied to another GPU without a stay on the CPU."""
    raise NotImplementedError("your code")
