"""Each operator of the table computes what it computes on the host, and every other one is refused."""

import pytest

EXPRESSIONS = """
-x; abs(x); x + y; x - y; 1 - x; torch.rsub(x, y); x * y; x / y; x ** 2; x.exp(); (y * y).log(); y.log1p()
y.log2(); y.sqrt(); y.rsqrt(); x.sin(); x.cos(); x.tanh(); x.sigmoid(); x.sign(); x.floor(); x.ceil()
x.round(); x.trunc(); y.reciprocal(); x % y; torch.fmod(x, y); x // y; x.clamp(-1, 1); x.clamp_min(0)
x.clamp_max(0); torch.maximum(x, y); torch.minimum(x, y); x == y; x != y; x < y; x <= y; x > y; x >= y
(x > 0) & (y > 1); (x > 0) | (y > 1); (x > 0) ^ (y > 1); ~(x > 0); torch.logical_and(x, y)
torch.logical_or(x, y); torch.logical_xor(x, y); torch.logical_not(x); x.isnan(); torch.where(x > 0, x, y)
torch.lerp(x, y, 0.25); torch.addcmul(x, x, y); torch.addcdiv(x, x, y); x.masked_fill(x > 0, 3); x.tril()
x.triu(); x.cumsum(0); x.clone().fill_(2); x.clone().zero_(); x.sum(); x.sum(1); x.mean(0); x.prod()
x.amax(1); x.amin(1); x.max(); x.min(); x.max(1).indices; x.argmax(1); x.argmin(); (x > 0).all()
(x > 0).any(); x.std(); x.var(1); torch.std_mean(x)[0]; torch.var_mean(x)[1]; x.norm(); torch.norm(x, 1)
torch.linalg.vector_norm(x); (x > 0).count_nonzero(dim=0); x.sort(1).values; x.topk(2, 1).values; x.flip(0)
x @ y.T; x @ y[0]; torch.dot(x[0], y[0]); torch.vdot(x[0], y[0]); torch.addmm(x @ y.T, x, y.T)
torch.addmv(x[:, 0], x, y[0]); torch.bmm(x[None], y.T[None])
torch.baddbmm((x @ y.T)[None], x[None], y.T[None]); torch.cat([x, y]); torch.stack([x, y]); x[i]; x[x > 0]
x.masked_select(x > 0); x.index_select(0, i); x.gather(1, i[None]); x.nonzero()
x.clone().index_put_((i,), y[:2]); x.scatter(1, i[None], y); x.scatter_add(1, i[None], y); torch.equal(x, y)
x[0, 0].item(); torch.arange(5, device=d) * 2; torch.eye(3, device=d); torch.linspace(0, 1, 4, device=d)
x.unfold(1, 2, 1); x.repeat(2, 2); x.half().double(); torch.randperm(4, device=d).sort().values
(torch.rand(9, device=d) < 1).all(); (torch.randn(9, device=d).abs() < 9).all()
(torch.randint(3, (9,), device=d) < 3).all(); torch.bernoulli(x * 0 + 1)
(torch.multinomial(y, 2) < 4).all(); torch.normal(x, 0.0); torch.matrix_power(x @ y.T, 3)
x.view(torch.int64)
"""
DIFFERENTIATED = """
F.relu(x); F.leaky_relu(x); F.elu(x); F.gelu(x); F.silu(x); F.softplus(x); F.hardtanh(x)
F.threshold(x, 0.1, 2); F.softmax(x, 1); F.log_softmax(x, 1); x.sigmoid(); x.tanh(); F.layer_norm(x, (4,))
F.batch_norm(x, None, None, training=True); F.mse_loss(x, y); F.mse_loss(x, y, reduction="none")
F.smooth_l1_loss(x, y); F.huber_loss(x, y); F.binary_cross_entropy(x.sigmoid(), (y > 1).double())
F.cross_entropy(x, torch.tensor([0, 3, 1], device=d)); F.conv2d(x[None, None], y[None, None, :2, :2])
F.max_pool2d(x[None], 2); F.avg_pool2d(x[None], 2); F.adaptive_avg_pool2d(x[None], 2); F.embedding(i, x)
F.dropout(x, 0.0); F.dropout(x, 0.5) * 0; x[i]; x.norm(); x.std(); x * x.detach().max(); x.expand(2, 3, 4)
fused(x, y) if x.is_cuda else cell(x, y)
"""
COMPARE = """
import torch.nn.functional as F
def cell(x, y):
    i, f, g, o = (x.repeat(1, 2) + y.repeat(1, 2)).chunk(4, 1)
    c = f.sigmoid() * x[:, :2] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh()
def fused(x, y):
    return torch.ops.aten._thnn_fused_lstm_cell(x.repeat(1, 2), y.repeat(1, 2), x[:, :2].contiguous())[0]
def value(expression, d, differentiate):
    x = torch.tensor([[0.5, -1.5, 2, -0.25], [3, 0.75, -2.5, 1], [-0.5, 1.25, 0.1, -3]], device=d).double()
    y = torch.tensor([[1.5, 0.5, 2.5, 4], [0.25, 3.5, 1, 2], [2.25, 0.75, 1.75, 3]], device=d).double()
    names = {**globals(), "x": x, "y": y, "i": torch.tensor([2, 0], device=d), "d": d}
    if differentiate:
        x.requires_grad_()
    came = eval(expression, names)
    if isinstance(came, torch.Tensor):
        assert came.device == torch.device(d), came.device
        if differentiate:
            came.sum().backward()
            assert x.grad.device == torch.device(d), x.grad.device
            came = torch.stack([came.detach().cpu().sum(), x.grad.cpu().sum()])
        came = came.cpu().double()
    return torch.as_tensor(came)
def differ(expressions, differentiate):
    for expression in expressions:
        host, device = (value(expression, d, differentiate) for d in ("cpu", "cuda:1"))
        if not torch.allclose(host, device, atol=1e-12, equal_nan=True):
            yield f"{expression}: {host.tolist()} on the host, {device.tolist()} on the device"
"""


def expressions(text):
    return [expression.strip() for line in text.splitlines() for expression in line.split("; ") if expression]


@pytest.fixture(scope="module")
def compared(virtual):
    """What differs, and the names of the operators that ran."""
    return virtual(
        COMPARE
        + f"""
wrong = [*differ({expressions(EXPRESSIONS)!r}, False), *differ({expressions(DIFFERENTIATED)!r}, True)]
ran = placement.plain()["devices"][1]["operators"]
result = [wrong, sorted(ran)]
"""
    )


def test_every_expression_has_the_value_and_the_gradient_that_it_has_on_the_host(compared):
    assert compared[0] == []


def test_every_operator_of_the_table_was_among_them(virtual, compared):
    table = virtual(
        "from _grader_subject.standins.virtual_gpus.table import OPERATORS\nresult = sorted(OPERATORS)"
    )
    only_to_complain = {"_slow_conv2d_forward"}
    counted_by_what_they_compute = {"_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl"}
    assert set(table) - set(compared[1]) == only_to_complain | counted_by_what_they_compute


REFUSED = {
    "x.svd()": "aten._linalg_svd.U",
    "torch.fft.fft(x)": "aten._fft_r2c.default",
    "nn.GRU(3, 2).cuda()(x)": "aten._thnn_fused_gru_cell.default",
    "x.to_sparse()": "aten.",
    "torch.empty(2, device='cuda', pin_memory=True)": "pinned memory",
    "torch.zeros(2).pin_memory()": "torch.Tensor.pin_memory",
    "x.share_memory_()": "torch.Tensor.share_memory_",
    "x.type(torch.FloatTensor)": "torch.Tensor.type with <class 'torch.FloatTensor'>",
    "torch.autocast('cuda').__enter__()": "torch.autocast",
    "torch.cuda.CUDAGraph()": "torch.cuda.CUDAGraph",
    "torch.cuda.mem_get_info()": "torch.cuda.mem_get_info",
    "torch.cuda.memory_reserved()": "torch.cuda.memory_reserved",
    "torch.cuda.get_device_capability()": "torch.cuda.get_device_capability",
    "torch.cuda.get_device_properties(0).major": "major of a device's properties",
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_the_table_does_not_name_is_refused_by_name(virtual, code):
    with pytest.raises(Exception, match=r"not available on virtual GPUs: ") as caught:
        virtual(f"x = torch.ones(2, 3).cuda()\n{code}")
    assert f"virtual GPUs: {REFUSED[code]}" in str(caught.value)


def test_every_call_of_the_table_is_there_and_all_others_are_refused(virtual):
    wrong = virtual(
        """
        from _grader_subject.standins.virtual_gpus.table import CALLS
        result = [name for name in CALLS if not callable(getattr(torch.cuda, name))]
        for name in torch.cuda.__all__:
            call = getattr(torch.cuda, name)
            if name in CALLS or not callable(call) or name.endswith(("Error", "Status", "Storage", "Tensor")):
                continue
            try:
                call()
                result.append(name)
            except RuntimeError as error:
                if str(error) != f"not available on virtual GPUs: torch.cuda.{name}":
                    result.append(str(error))
        """
    )
    assert wrong == []


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("install(2)", "RuntimeError: this process has virtual GPUs already"),
        (
            "torch.version.cuda = '13.0'\n"
            "from _grader_subject.standins.virtual_gpus.guards import admit\nadmit()",
            "ImportError: torch VERSION is built for GPUs (13.0); install a build for CPUs",
        ),
    ],
)
def test_virtual_gpus_are_not_put_over_others(virtual, code, says):
    version = virtual("result = torch.__version__")
    with pytest.raises(Exception, match=r"Error") as caught:
        virtual(code)
    assert str(caught.value) == says.replace("VERSION", version)


def test_autograd_computes_in_the_thread_that_asks_for_it(virtual):
    assert virtual(
        """
        import threading
        threads = set()
        x = torch.ones(1, device="cuda:3", requires_grad=True)
        x.register_hook(lambda grad: threads.add(threading.current_thread()))
        (x * 2).backward()
        result = threads == {threading.main_thread()}
        """
    )
