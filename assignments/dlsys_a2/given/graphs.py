"""Builds small graphs with the submission's `autodiff`, and runs them on NumPy or on a GPU."""

from submission import module

ad = module("autodiff")
ndarray = module("ndarray")
_base = module("_base")

CONTEXTS = {"numpy": None, "gpu": ndarray.gpu(0)}

REFUSED = "refused"


def _operation(name, older=""):
    def make(*inputs):
        # Looked up only now: one that a submission lacks is missed by nobody else.
        return getattr(ad, older if hasattr(ad, older) else name)(*inputs)

    return make


OPERATIONS = {
    "add": lambda a, b: a + b,
    "add_by_const": lambda x, const: x + const,
    "multiply": lambda a, b: a * b,
    "multiply_by_const": lambda x, const: x * const,
    "matmul": lambda a, b, trans_a=False, trans_b=False: ad.matmul_op(a, b, trans_a, trans_b),
    "broadcast_to": _operation("broadcastto_op"),
    "reduce_sum_axis_zero": _operation("reducesum_axiszero_op", older="reducesumaxiszero_op"),
    "zeros_like": _operation("zeroslike_op"),
    "ones_like": _operation("oneslike_op"),
    "softmax": _operation("softmax_op"),
    "softmax_cross_entropy": _operation("softmaxcrossentropy_op"),
    "relu": _operation("relu_op"),
    "relu_gradient": _operation("relu_gradient_op"),
}


def layer(x, w, b, labels):
    """One layer, what it costs, and how to make it better."""
    product = ad.matmul_op(x, w)
    y = ad.relu_op(product + ad.broadcastto_op(b, product))
    loss = ad.softmaxcrossentropy_op(y, labels)
    return [loss, y, *ad.gradients(loss, [w, b])]


def long_lived(x):
    """A value that is needed once more after many others of its shape."""
    early = x * 3.0
    value = early
    for _ in range(5):
        value = ad.relu_op(value + 1.0) * 0.5
    return [value + early]


def answers(x):
    """Values that are wanted, and needed by others as well."""
    first = x + 1.0
    second = first * first
    third = ad.relu_op(second + first)
    return [first, third, second, third * 2.0]


GRAPHS = {graph.__name__: graph for graph in (layer, long_lived, answers)}
"""Functions of variables that give the nodes that are wanted; parameters are the variables' names."""


def value(operation, values, device, **options):
    """One operation of fed arrays."""
    executor, (feed,) = _of_value(operation, values, device, **options)
    return _run(executor, feed)[0]


def gradient(operation, values, weights, device, **options):
    """The gradient of the sum of `weights` times one operation's value, by each of the fed arrays."""
    executor, (feed,) = _of_gradient(operation, values, weights, device, **options)
    return _run(executor, feed)


def _of_value(operation, values, device, **options):
    variables = _variables(values)
    executor = ad.Executor([OPERATIONS[operation](*variables, **options)], ctx=CONTEXTS[device])
    return executor, [dict(zip(variables, values, strict=True))]


def _of_gradient(operation, values, weights, device, **options):
    variables = _variables(values)
    weighted = ad.Variable("weights")
    total = OPERATIONS[operation](*variables, **options) * weighted
    executor = ad.Executor(ad.gradients(total, variables), ctx=CONTEXTS[device])
    return executor, [{**dict(zip(variables, values, strict=True)), weighted: weights}]


def _of_runs(graph, feeds, device):
    variables, executor = _executor(graph, device)
    return executor, [{variables[name]: array for name, array in feed.items()} for feed in feeds]


PREPARED = {"value": _of_value, "gradient": _of_gradient, "runs": _of_runs}
"""By a function's name: its executor, and what each run of it is fed, from its arguments."""


def shape_of(operation, shapes, **options):
    """The shape that an operation infers, or `refused` if it takes no inputs of these shapes."""
    node = OPERATIONS[operation](*_variables(shapes), **options)
    try:
        shape = node.op.infer_shape(node, [tuple(shape) for shape in shapes])
    except NotImplementedError:
        raise
    except Exception:  # with which words it refuses is its own affair
        return REFUSED
    return tuple(int(length) for length in shape)


def runs(graph, feeds, device):
    """Run one executor with one set of fed arrays, by name, after the other: what each run gives."""
    executor, feeds = _of_runs(graph, feeds, device)
    return [_run(executor, feed) for feed in feeds]


def overlaps(graph, feeds):
    """After each run on a GPU: which values share memory while both are needed.

    Returns:
        A sentence for each pair; the shapes that the first run gave; and how many runs had no arrays at all.
    """
    variables, executor = _executor(graph, "gpu")
    overlaps, shapes, unplanned = [], [], 0
    for number, feed in enumerate(feeds, 1):
        values = _run(executor, {variables[name]: array for name, array in feed.items()})
        shapes = shapes or [list(value.shape) for value in values]
        spans = _spans(executor)
        unplanned += not spans
        overlaps += [f"run {number}: {pair}" for pair in _overlapping(executor, spans)]
    return {"overlaps": overlaps, "shapes": shapes, "runs without arrays": unplanned}


def allocations(graph, feeds):
    """How often arrays are allocated (DLArrayAlloc) in each run on a GPU whose feed shapes were seen before.

    What is fed lies on the GPU already.

    Returns:
        The counts, and the shapes that the first run gave.
    """
    variables, executor = _executor(graph, "gpu")
    seen, counts, first = [], [], []
    for feed in feeds:
        fed = _fed({variables[name]: array for name, array in feed.items()}, executor)
        shapes = {name: array.shape for name, array in feed.items()}
        calls, results = _counted(lambda fed=fed: executor.run(fed))
        first = first or [list(value.shape) for value in _fetched(results)]
        if shapes in seen:
            counts.append(calls)
        seen.append(shapes)
    return {"allocations": counts, "shapes": first}


def _variables(values):
    return [ad.Variable(f"input{number}") for number, _ in enumerate(values, 1)]


def _executor(graph, device):
    code = GRAPHS[graph].__code__
    variables = {name: ad.Variable(name) for name in code.co_varnames[: code.co_argcount]}
    return variables, ad.Executor(GRAPHS[graph](**variables), ctx=CONTEXTS[device])


def _fed(feed, executor):
    if executor.ctx is None:
        return feed
    return {node: ndarray.array(array, ctx=executor.ctx) for node, array in feed.items()}


def _run(executor, feed):
    return _fetched(executor.run(_fed(feed, executor)))


def _fetched(results):
    """The values in the memory of the CPU, at once: the next run may write to the same arrays."""
    return [value.asnumpy() if isinstance(value, ndarray.NDArray) else value for value in results]


def _spans(executor):
    """Where the arrays of computed values lie."""
    # A fed variable may have an array of its own in the map, which nothing is written to.
    arrays = {node: executor.node_to_arr_map.get(node) for node in executor.topo_order if node.inputs}
    return {node: _span(array) for node, array in arrays.items() if array is not None}


def _overlapping(executor, spans):
    order = executor.topo_order
    last_read = {node: place for place, node in enumerate(order)}
    for place, reader in enumerate(order):
        for node in reader.inputs:
            last_read[node] = place
    for node in executor.eval_node_list:
        last_read[node] = len(order)
    for written, node in enumerate(order):
        for earlier in order[:written]:
            if node in spans and earlier in spans and last_read[earlier] > written:
                (start, end), (other_start, other_end) = spans[node], spans[earlier]
                if start < other_end and other_start < end:
                    yield f"{node.name} is written where {earlier.name} is still needed"


def _span(array):
    start, bytes_each = array.handle.contents.data, 4
    for length in array.shape:
        bytes_each *= length
    return start, start + bytes_each


def _counted(action):
    """How often DLArrayAlloc is called meanwhile, and what comes of it."""
    library = _base._LIB  # noqa: SLF001 - the package's own library, watched in it
    allocate, calls = library.DLArrayAlloc, []

    def counting(*arguments):
        calls.append(arguments)
        return allocate(*arguments)

    library.DLArrayAlloc = counting
    try:
        result = action()
    finally:
        library.DLArrayAlloc = allocate
    return len(calls), result
