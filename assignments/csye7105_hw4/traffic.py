"""What each GPU receives while a network learns whose parts lie where its program says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BYTES = 4
"""Of a number in single precision."""
SCALARS = 2**18
"""Running statistics, numbers of steps and other small things that no two libraries copy alike."""
GENEROUS = 5
"""How many times what has to cross may: without its pooling a network has outputs four times as large."""
STEPS = 2
"""How often the network learns in `split.step`."""
CLASSES = 1000
NOWHERE = "no device"


def received(parts: Mapping[str, str], weights: Any, pictures: Any, classes: Any) -> dict[str, list[int]]:
    """The least, the usual and the most bytes that each device is sent, by what lies on it.

    It gets its own weights from the host, and they can be told from everything else by their size: then what
    crosses into it (the outputs of layers forward, their gradients backward), pictures, classes and losses.
    Whose weights are computed with on another device has to send them there first.
    """
    # What is left out was sent nowhere.
    parts = {**dict.fromkeys(weights, NOWHERE), **parts}
    crossing = _crossing(parts, _layers(pictures.shape))
    around = BYTES * STEPS * (pictures.size + 2 * len(classes) * CLASSES) + SCALARS
    limits = {}
    for device in sorted({device for name, device in parts.items() if name in weights}):
        least = sum(BYTES * weight.size for name, weight in weights.items() if parts[name] == device)
        beside = STEPS * crossing.get(device, 0) + around
        limits[device] = [least, least + beside, least + GENEROUS * beside]
    return limits


def _crossing(parts: Mapping[str, str], layers: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """The bytes that cross into each device: inputs of layers forward, gradients of their outputs backward.

    Within a block that lies on several devices every input and output may cross, for what goes into it is
    added to what comes out of it.
    """
    names = list(layers)
    device_of = {name: parts[f"{name}.weight"] for name in names}
    crossing: dict[str, int] = {}
    for before, name, after in zip(["", *names], names, [*names[1:], ""], strict=False):
        device, (taken, given) = device_of[name], layers[name]
        block = {device_of[other] for other in names if _block(other) and _block(other) == _block(name)}
        if len(block) > 1 or device_of.get(before, device) != device:
            crossing[device] = crossing.get(device, 0) + BYTES * taken
        if len(block) > 1 or device_of.get(after, device) != device:
            crossing[device] = crossing.get(device, 0) + BYTES * given
    return crossing


def _block(layer: str) -> str:
    """`layer2.0` of `layer2.0.downsample.1`; empty for what is in no block."""
    return ".".join(layer.split(".")[:2]) if layer.startswith("layer") else ""


def _layers(shape: tuple[int, ...]) -> dict[str, tuple[int, int]]:
    """How many numbers each layer with weights takes and gives, in the order of the unsplit network."""
    import torch

    from .given.resnet import resnet50

    sizes: dict[str, tuple[int, int]] = {}
    with torch.device("meta"):
        network = resnet50()
        for name, layer in network.named_modules():
            if list(layer.parameters(recurse=False)):
                layer.register_forward_hook(
                    lambda _, inputs, output, name=name: sizes.update(
                        {name: (inputs[0].numel(), output.numel())}
                    )
                )
        network(torch.empty(shape))
    return {name: sizes[name] for name, _ in network.named_modules() if name in sizes}
