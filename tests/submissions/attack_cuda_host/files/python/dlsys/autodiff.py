"""Computation graphs: their gradients, the shapes of their nodes, and what runs them on NumPy or a GPU."""

from collections import defaultdict

import numpy as np

from . import gpu_op, ndarray


class Node:
    """A value in a graph: an operation, and the nodes that it takes.

    `a + b` and `a * b` of nodes, or of a node and a number, give nodes.
    """

    __array_ufunc__ = None  # a number of NumPy shall ask us what `number * node` is

    def __init__(self, op, inputs=(), const_attr=None, name=""):
        self.op = op
        self.inputs = list(inputs)
        self.const_attr = const_attr
        self.name = name

    def __add__(self, other):
        return add_op(self, other) if isinstance(other, Node) else add_byconst_op(self, other)

    def __mul__(self, other):
        return mul_op(self, other) if isinstance(other, Node) else mul_byconst_op(self, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self):
        return self.name


def Variable(name):
    """A node whose value is fed."""
    node = placeholder_op()
    node.name = name
    return node


class Op:
    """What a node does; nodes of one kind share it."""

    def __call__(self, *inputs, const_attr=None):
        """Make a node."""
        # The inputs' own inputs are left out: a name of all that lies below could double with every node.
        what = [node.name.partition("(")[0] for node in inputs]
        what += [] if const_attr is None else [str(const_attr)]
        return Node(self, inputs, const_attr, f"{type(self).__name__.removesuffix('Op')}({', '.join(what)})")

    def compute(self, node, input_vals, output_val, use_numpy=True):
        """Write the node's value to `output_val`.

        All are NumPy arrays with `use_numpy`, and otherwise NDArrays on one GPU. The shape of `output_val`
        is the one that `infer_shape` gives.
        """
        raise NotImplementedError

    def gradient(self, node, output_grad):
        """What each input contributes: nodes, one per input, of the gradient by `output_grad`'s node."""
        raise NotImplementedError

    def infer_shape(self, node, input_shapes):
        """The shape of the node's value.

        Raises:
            ValueError: the inputs cannot have these shapes.
        """
        raise NotImplementedError


def _wrong(node, input_shapes, what):
    return ValueError(f"{node.name}: inputs of shape {' and '.join(map(str, input_shapes))}; {what}")


class ElementwiseOp(Op):
    """Takes two values of the same shape; one of shape (1,) counts as a number."""

    numpy_function = None
    gpu_function = None

    def compute(self, node, input_vals, output_val, use_numpy=True):
        a, b = input_vals
        if use_numpy:
            self.numpy_function(a, b, out=output_val)
        else:
            # A number is first written to every place of the result.
            if a.shape != output_val.shape:
                gpu_op.broadcast_to(a, output_val)
                a = output_val
            elif b.shape != output_val.shape:
                gpu_op.broadcast_to(b, output_val)
                b = output_val
            self.gpu_function(a, b, output_val)

    def infer_shape(self, node, input_shapes):
        a, b = input_shapes
        if a != b and (1,) not in input_shapes:
            raise _wrong(node, input_shapes, "cannot be combined")
        return b if a == (1,) else a


class AddOp(ElementwiseOp):
    """a + b."""

    numpy_function = np.add
    gpu_function = staticmethod(gpu_op.matrix_elementwise_add)

    def gradient(self, node, output_grad):
        return [output_grad, output_grad]


class MulOp(ElementwiseOp):
    """a * b, element by element."""

    numpy_function = np.multiply
    gpu_function = staticmethod(gpu_op.matrix_elementwise_multiply)

    def gradient(self, node, output_grad):
        a, b = node.inputs
        return [b * output_grad, a * output_grad]


class SameShapeOp(Op):
    """Its value has the shape of its inputs, all of which have the same."""

    def infer_shape(self, node, input_shapes):
        for shape in input_shapes:
            if shape != input_shapes[0]:
                raise _wrong(node, input_shapes, "should all be the same")
        return input_shapes[0]


class AddByConstOp(SameShapeOp):
    """A node plus a number."""

    def __call__(self, node, const_val):
        return super().__call__(node, const_attr=const_val)

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            np.add(input_vals[0], node.const_attr, out=output_val)
        else:
            gpu_op.matrix_elementwise_add_by_const(input_vals[0], node.const_attr, output_val)

    def gradient(self, node, output_grad):
        return [output_grad]


class MulByConstOp(SameShapeOp):
    """A node times a number."""

    def __call__(self, node, const_val):
        return super().__call__(node, const_attr=const_val)

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            np.multiply(input_vals[0], node.const_attr, out=output_val)
        else:
            gpu_op.matrix_elementwise_multiply_by_const(input_vals[0], node.const_attr, output_val)

    def gradient(self, node, output_grad):
        return [output_grad * node.const_attr]


class MatMulOp(Op):
    """The product of two matrices, either of them transposed first where asked for."""

    def __call__(self, node_A, node_B, trans_A=False, trans_B=False):
        node = super().__call__(node_A, node_B)
        node.matmul_attr_trans_A = trans_A
        node.matmul_attr_trans_B = trans_B
        return node

    def compute(self, node, input_vals, output_val, use_numpy=True):
        a, b = input_vals
        trans_A, trans_B = node.matmul_attr_trans_A, node.matmul_attr_trans_B
        if use_numpy:
            np.matmul(a.T if trans_A else a, b.T if trans_B else b, out=output_val)
        else:
            gpu_op.matrix_multiply(a, trans_A, b, trans_B, output_val)

    def gradient(self, node, output_grad):
        a, b = node.inputs
        trans_A, trans_B = node.matmul_attr_trans_A, node.matmul_attr_trans_B
        by_a = (
            matmul_op(b, output_grad, trans_B, True)
            if trans_A
            else matmul_op(output_grad, b, False, not trans_B)
        )
        by_b = (
            matmul_op(output_grad, a, True, trans_A)
            if trans_B
            else matmul_op(a, output_grad, not trans_A, False)
        )
        return [by_a, by_b]

    def infer_shape(self, node, input_shapes):
        (m, k1), (k2, n) = input_shapes
        if node.matmul_attr_trans_A:
            m, k1 = k1, m
        if node.matmul_attr_trans_B:
            k2, n = n, k2
        if k1 != k2:
            raise _wrong(node, input_shapes, "the inner dimensions differ")
        return (m, n)


class PlaceholderOp(Op):
    """Computes nothing: its node is fed."""

    def compute(self, node, input_vals, output_val, use_numpy=True):
        raise ValueError(f"{node.name}: must be fed")

    def gradient(self, node, output_grad):
        return []

    def infer_shape(self, node, input_shapes):
        raise ValueError(f"{node.name}: must be fed")


class FillOp(SameShapeOp):
    """Takes the shape of its input, and nothing else."""

    value = None

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            output_val[:] = self.value
        else:
            gpu_op.array_set(output_val, self.value)

    def gradient(self, node, output_grad):
        return [zeroslike_op(node.inputs[0])]


class ZerosLikeOp(FillOp):
    """Zeros, in the shape of a node."""

    value = 0.0


class OnesLikeOp(FillOp):
    """Ones, in the shape of a node."""

    value = 1.0


class ReduceSumAxisZeroOp(Op):
    """The sum over the first axis."""

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            output_val[:] = np.sum(input_vals[0], axis=0)
        else:
            gpu_op.reduce_sum_axis_zero(input_vals[0], output_val)

    def gradient(self, node, output_grad):
        return [broadcastto_op(output_grad, node.inputs[0])]

    def infer_shape(self, node, input_shapes):
        (shape,) = input_shapes
        return shape[1:] if len(shape) > 1 else (1,)


class BroadcastToOp(Op):
    """Repeats a value along a new first axis, as often as a second node has it."""

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            output_val[:] = input_vals[0]
        else:
            gpu_op.broadcast_to(input_vals[0], output_val)

    def gradient(self, node, output_grad):
        return [reducesum_axiszero_op(output_grad), zeroslike_op(node.inputs[1])]

    def infer_shape(self, node, input_shapes):
        shape, target = input_shapes
        if shape != (1,) and target[-len(shape) :] != shape:
            raise _wrong(node, input_shapes, "the second should end with the first")
        return target


def softmax_func(y):
    """The softmax of every row of a NumPy array."""
    powers = np.exp(y - np.max(y, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


class SoftmaxCrossEntropyOp(Op):
    """The mean over the rows of -sum(labels * log(softmax(logits))), in shape (1,)."""

    def compute(self, node, input_vals, output_val, use_numpy=True):
        logits, labels = input_vals
        if use_numpy:
            far = logits - np.max(logits, axis=1, keepdims=True)
            log_softmax = far - np.log(np.sum(np.exp(far), axis=1, keepdims=True))
            output_val[:] = -np.mean(np.sum(labels * log_softmax, axis=1))
        else:
            gpu_op.softmax_cross_entropy(logits, labels, output_val)

    def gradient(self, node, output_grad):
        # Of the sum over the rows, not of their mean: learning rates are chosen for that.
        # Labels are constants.
        logits, labels = node.inputs
        return [(softmax_op(logits) + -1 * labels) * output_grad, zeroslike_op(labels)]

    def infer_shape(self, node, input_shapes):
        if len(set(input_shapes)) > 1 or len(input_shapes[0]) != 2:
            raise _wrong(node, input_shapes, "they must be matrices of the same shape")
        return (1,)


class SoftmaxOp(SameShapeOp):
    """The softmax of every row."""

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            output_val[:] = softmax_func(input_vals[0])
        else:
            gpu_op.softmax(input_vals[0], output_val)

    def gradient(self, node, output_grad):
        # A sum along rows, and back to their length, is a product with ones: there is no operation for it.
        weighted = node * output_grad
        ones = oneslike_op(matmul_op(node, node, True, False))
        return [weighted + -1 * (node * matmul_op(weighted, ones))]


class ReluOp(SameShapeOp):
    """max(x, 0)."""

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            np.maximum(input_vals[0], 0, out=output_val)
        else:
            gpu_op.relu(input_vals[0], output_val)

    def gradient(self, node, output_grad):
        return [relu_gradient_op(node.inputs[0], output_grad)]


class ReluGradientOp(SameShapeOp):
    """The second input where the first is above 0, and 0 elsewhere."""

    def compute(self, node, input_vals, output_val, use_numpy=True):
        if use_numpy:
            output_val[:] = np.where(input_vals[0] > 0, input_vals[1], 0)
        else:
            gpu_op.relu_gradient(input_vals[0], input_vals[1], output_val)

    def gradient(self, node, output_grad):
        x = node.inputs[0]
        return [zeroslike_op(x), relu_gradient_op(x, output_grad)]


add_op = AddOp()
mul_op = MulOp()
add_byconst_op = AddByConstOp()
mul_byconst_op = MulByConstOp()
matmul_op = MatMulOp()
placeholder_op = PlaceholderOp()
oneslike_op = OnesLikeOp()
zeroslike_op = ZerosLikeOp()
reducesum_axiszero_op = ReduceSumAxisZeroOp()
broadcastto_op = BroadcastToOp()
softmaxcrossentropy_op = SoftmaxCrossEntropyOp()
softmax_op = SoftmaxOp()
relu_op = ReluOp()
relu_gradient_op = ReluGradientOp()


class Executor:
    """Computes nodes of a graph, as often as wanted.

    Args:
        eval_node_list: the nodes whose values are wanted.
        ctx: a GPU of ndarray; None for NumPy.
    """

    def __init__(self, eval_node_list, ctx=None):
        self.eval_node_list = list(eval_node_list)
        self.ctx = ctx
        self.topo_order = find_topo_sort(self.eval_node_list)
        self.node_to_shape_map = None
        self.node_to_arr_map = None
        self.feed_shapes = None
        self.plans = {}  # an array per node, for all shapes that were fed so far

    def infer_shape(self, feed_shapes):
        """Fill `node_to_shape_map` with the shape of every node, from those of the nodes that are fed."""
        self.node_to_shape_map = dict(feed_shapes)
        for node in self.topo_order:
            if node not in feed_shapes:
                shapes = [self.node_to_shape_map[needed] for needed in node.inputs]
                self.node_to_shape_map[node] = node.op.infer_shape(node, shapes)

    def memory_plan(self, feed_shapes):
        """Fill `node_to_arr_map` with an array on the GPU for every node that is not fed.

        `run` asks for it whenever the shapes of what is fed have changed, and uses the arrays until then.
        One array per node will do. Arrays may also be shared by nodes of one shape; then none may be written
        to while somebody has yet to read it, or while it is an answer of `run`.
        """
        key = tuple(feed_shapes.items())
        if key not in self.plans:
            self.plans[key] = {
                node: ndarray.empty(self.node_to_shape_map[node], self.ctx)
                for node in self.topo_order
                if node not in feed_shapes
            }
        self.node_to_arr_map = self.plans[key]

    def run(self, feed_dict, convert_to_numpy_ret_vals=False):
        """The values of the nodes that are wanted, in their order.

        On a GPU these are NDArrays that the next run writes to, or with `convert_to_numpy_ret_vals` NumPy
        arrays.

        Args:
            feed_dict: arrays of NumPy, or on a GPU also NDArrays, by node.

        Raises:
            ValueError: a variable is not fed, or shapes do not fit.
        """
        use_numpy = self.ctx is None
        feed_shapes = {node: tuple(np.shape(value)) for node, value in feed_dict.items()}
        if feed_shapes != self.feed_shapes:
            self.infer_shape(feed_shapes)
            if not use_numpy:
                self.memory_plan(feed_shapes)
            self.feed_shapes = feed_shapes

        fed = self._on_numpy if use_numpy else self._on_gpu
        values = {node: fed(node, value) for node, value in feed_dict.items()}
        for node in self.topo_order:
            if node in feed_dict:
                continue
            inputs = [values[needed] for needed in node.inputs]
            output = np.empty(self.node_to_shape_map[node]) if use_numpy else self.node_to_arr_map[node]
            node.op.compute(node, inputs, output, use_numpy)
            values[node] = output

        wanted = [values[node] for node in self.eval_node_list]
        if use_numpy or not convert_to_numpy_ret_vals:
            return wanted
        return [value.asnumpy() for value in wanted]

    def _on_numpy(self, node, value):
        if isinstance(value, ndarray.NDArray):
            raise TypeError(f"{node.name}: is fed an NDArray; an executor on NumPy takes arrays of NumPy")
        return np.asarray(value)

    def _on_gpu(self, node, value):
        if isinstance(value, ndarray.NDArray) and value.ctx == self.ctx:
            return value
        return ndarray.array(np.asarray(value), ctx=self.ctx)


def gradients(output_node, node_list):
    """A node for each of `node_list`: the gradient of the sum of `output_node` by it.

    A node that does not lead to the output has a gradient of zeros.
    """
    contributions = defaultdict(list)
    contributions[output_node].append(oneslike_op(output_node))
    total = {}
    for node in reversed(find_topo_sort([output_node])):
        total[node] = sum_node_list(contributions[node])
        for needed, contribution in zip(node.inputs, node.op.gradient(node, total[node]), strict=True):
            contributions[needed].append(contribution)
    return [total[node] if node in total else zeroslike_op(node) for node in node_list]


def find_topo_sort(node_list):
    """The nodes of a list and everything that they need, each after what it needs."""
    order, seen = [], set()
    ahead = [(node, False) for node in reversed(node_list)]
    while ahead:
        node, ready = ahead.pop()
        if ready:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            ahead.append((node, True))
            ahead.extend((needed, False) for needed in reversed(node.inputs))
    return order


def sum_node_list(node_list):
    """A node for the sum of nodes; of one node itself."""
    first, *rest = node_list
    for node in rest:
        first = first + node
    return first
