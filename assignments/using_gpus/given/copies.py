"""Which tensors a program copies from one device to another."""

from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode

NONE = "no copies"
_ENDS = {
    "aten._to_copy": lambda args, result: (args[0].device, result.device),
    "aten.copy_": lambda args, result: (args[1].device, args[0].device),
    # a number that is read out of a tensor, as by `item`
    "aten._local_scalar_dense": lambda args, result: (args[0].device, torch.device("cpu")),
}


class Copying(TorchDispatchMode):
    """While it is entered, `copied` is called after every copy from one device to another."""

    def copied(self, source, target):
        """Two different `torch.device`."""
        raise NotImplementedError

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        ends = _ENDS.get(str(func.overloadpacket))
        if ends:
            source, target = ends(args, result)
            if source != target:
                self.copied(source, target)
        return result


class Copies(Copying):
    """Counts them."""

    def __init__(self):
        super().__init__()
        self._seen = Counter()

    def copied(self, source, target):
        self._seen[f"{source} to {target}"] += 1

    def told(self):
        """`cuda:0 to cpu, cpu to cuda:1`, each once for every copy; or that there were none."""
        return ", ".join(self._seen.elements()) or NONE
