"""Runs the graphs of `graphs` on a GPU, also with arrays that lay there before the submission was loaded."""

import device_memory

RESULTS = {"value": lambda runs: runs[0][0], "gradient": lambda runs: runs[0], "runs": lambda runs: runs}
"""What each of the functions below gives, by the values of its runs."""

_placed = []
_fed = []
_loaded = []
_results = []
"""Arrays that wait on the GPU; those that they will be copied over; a function's name, its executor and what
each run of it is fed; and the arrays that these gave last."""


def value(*arguments, **options):
    return _graphs().value(*arguments, **options)


def gradient(*arguments, **options):
    return _graphs().gradient(*arguments, **options)


def runs(*arguments):
    return _graphs().runs(*arguments)


def place(function, *arguments, **options):
    """Put what one of the functions above feeds on the GPU; no code of the submission has run yet."""
    del function, options
    _placed[:] = map(device_memory.placed, _arrays(arguments))


def load(function, *arguments, **options):
    """Run the graph of one of them with other arrays of the same shapes."""
    executor, feeds = _graphs().PREPARED[function](*arguments, **options)
    feeds = [{node: device_memory.placed(array) for node, array in feed.items()} for feed in feeds]
    _fed[:] = [array for feed in feeds for array in feed.values()]
    _loaded[:] = function, executor, feeds
    for feed in feeds:
        executor.run(feed)


def run():
    """Run it once more, with the placed arrays copied over the others on the GPU.

    Returns:
        What the function gives.
    """
    _exchange()
    function, executor, feeds = _loaded
    _results.clear()
    # Read at once: the next run may write to the same arrays.
    return RESULTS[function]([_read(_kept(executor.run(feed))) for feed in feeds])


def rest():
    """Do all that `run` does but the graph itself: give what lies in the arrays that it gave last."""
    _exchange()
    return RESULTS[_loaded[0]](list(map(_read, _results)))


def _kept(values):
    _results.append(values)
    return values


def _read(values):
    """The values in the memory of the CPU, where some may lie already."""
    return [device_memory.read(value) if hasattr(value, "handle") else value for value in values]


def _exchange():
    for source, target in zip(_placed, _fed, strict=True):
        device_memory.copy(source, target)
    device_memory.wait()


def _arrays(value):
    """The arrays among arguments, in the order in which a graph is fed with them."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return [value] if hasattr(value, "shape") else []
    return [array for part in value for array in _arrays(part)]


def _graphs():
    import graphs

    return graphs
