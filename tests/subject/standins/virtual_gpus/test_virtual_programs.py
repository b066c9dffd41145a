"""The same programs on virtual GPUs and on real ones: devices, numbers and errors."""

from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import pytest

NUMBERS = "x = torch.arange(6.).reshape(2, 3)\n"
SAME = "Expected all tensors to be on the same device"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a program gives, wherever it runs."""

    does: str
    code: str
    gives: Any = None
    raises: str | None = None
    """How the error begins."""
    gpus: int = 1


PROGRAMS = (
    Program(
        does="counts devices and begins with the first",
        code="""
        cuda = torch.cuda
        result = [cuda.is_available(), cuda.device_count() >= 1, cuda.current_device(), cuda.is_initialized()]
        """,
        gives=[True, True, 0, True],
    ),
    Program(
        does="creates tensors on a device",
        code="""
        d = "cuda:0"
        made = [
            torch.zeros(2, device=d), torch.ones(2, device=torch.device("cuda")), torch.empty(0, device=0),
            torch.full((2,), 3, device=d), torch.arange(3, device=d), torch.eye(2, device=d),
            torch.rand(2, device=d), torch.randn(2, device=d), torch.randint(9, (2,), device=d),
            torch.randperm(3, device=d), torch.linspace(0, 1, 3, device=d), torch.tensor([1.0], device=d),
            torch.as_tensor([1.0], device=d), torch.zeros_like(torch.ones(2), device=d),
        ]
        result = [sorted({str(t.device) for t in made}), sorted({type(t).__name__ for t in made})]
        """,
        gives=[["cuda:0"], ["Tensor"]],
    ),
    Program(
        does="says what a tensor is",
        code=NUMBERS
        + """
y = x.cuda()
result = [y.is_cuda, y.get_device(), y.type(), str(y), repr(y.sum()), y.tolist(), isinstance(y, torch.Tensor)]
""",
        gives=[
            True,
            0,
            "torch.cuda.FloatTensor",
            "tensor([[0., 1., 2.],\n        [3., 4., 5.]], device='cuda:0')",
            "tensor(15., device='cuda:0')",
            [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
            True,
        ],
    ),
    Program(
        does="moves a tensor, and does not copy what is there already",
        code=NUMBERS
        + """
y = x.to("cuda")
back = y.cpu()
y[0, 0] = 9
result = [
    y.to("cuda") is y, y.to("cuda:0") is y, y.cuda() is y, y.to(0) is y, x.to("cpu") is x, x.cpu() is x,
    y.to("cuda", copy=True) is y, y.double().dtype == torch.float64, y.to(torch.zeros(1)).device.type,
    x[0, 0].item(), back[0, 0].item(), y[0, 0].item(), y.to("cpu", non_blocking=True)[0, 0].item(),
]
""",
        gives=[True, True, True, True, True, True, False, True, "cpu", 0.0, 0.0, 9.0, 9.0],
    ),
    Program(
        does="keeps device and dtype in new tensors",
        code="""
        w = torch.empty(3, 5, dtype=torch.float16, device="cuda:0").fill_(1.0)
        made = [w.new_zeros(2), w.new_full((2, 3), 1.4), w.new_empty(1), w.new_tensor([2])]
        made += [torch.ones_like(w), w @ w.T]
        result = [[str(t.device), str(t.dtype)] for t in made] + made[1].tolist()[0]
        """,
        gives=[["cuda:0", "torch.float16"]] * 6 + [1.400390625] * 3,
    ),
    Program(
        does="copies between devices with copy_",
        code=NUMBERS
        + """
y = torch.zeros(2, 3, device="cuda")
z = torch.zeros(2, 3).copy_(y.copy_(x))
result = [str(y.device), str(z.device), z.tolist()]
""",
        gives=["cuda:0", "cpu", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]],
    ),
    Program(
        does="combines a tensor with scalars of the host, of zero dimensions",
        code=NUMBERS
        + """
y = x.cuda()
two = torch.tensor(2.0)
y[0, 0] = two
result = [(y * two).tolist(), (two + y).tolist(), torch.where(y > 3, y, two).tolist(), str((y * two).device)]
""",
        gives=[
            [[4.0, 2.0, 4.0], [6.0, 8.0, 10.0]],
            [[4.0, 3.0, 4.0], [5.0, 6.0, 7.0]],
            [[2.0, 2.0, 2.0], [2.0, 4.0, 5.0]],
            "cuda:0",
        ],
    ),
    Program(
        does="indexes with indices of either device",
        code=NUMBERS
        + """
y = x.cuda()
one = torch.tensor([1])
y[one] += 1
y[y > 5] = 0
result = [y[one].tolist(), y[one.cuda()].tolist(), y[y > 3].tolist(), y[:, 1:].T.tolist()]
""",
        gives=[[[4.0, 5.0, 0.0]], [[4.0, 5.0, 0.0]], [4.0, 5.0], [[1.0, 5.0], [2.0, 0.0]]],
    ),
    Program(
        does="writes through views",
        code=NUMBERS
        + """
y = x.cuda()
y[0].add_(1)
y.t()[2].zero_()
y.view(-1)[3:5].mul_(10)
result = [y.tolist(), y.view(-1).data_ptr() == y.data_ptr(), y[1].storage_offset(), y.T.is_contiguous()]
""",
        gives=[[[1.0, 2.0, 0.0], [30.0, 40.0, 0.0]], True, 3, False],
    ),
    Program(
        does="computes into given tensors",
        code=NUMBERS
        + """
y = x.cuda()
empty = torch.empty(0, device="cuda")
torch.mm(y, y.T, out=empty)
full = torch.empty(2, 3, device="cuda")
torch.add(y, 1, out=full)
result = [empty.tolist(), full.tolist()]
""",
        gives=[[[5.0, 14.0], [14.0, 50.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]],
    ),
    Program(
        does="makes no array of it",
        code=NUMBERS + "x.cuda().numpy()",
        raises="TypeError: can't convert cuda:0 device type tensor to numpy."
        " Use Tensor.cpu() to copy the tensor to host memory first.",
    ),
    Program(
        does="adds what lies on a device and the host",
        code=NUMBERS + "x + x.cuda()",
        raises=f"RuntimeError: {SAME}, but found at least two devices, cuda:0 and cpu!",
    ),
    Program(
        does="adds what lies on two devices",
        code=NUMBERS + "x.cuda(1) + x.cuda(0)",
        raises=f"RuntimeError: {SAME}, but found at least two devices, cuda:1 and cuda:0!",
        gpus=2,
    ),
    Program(
        does="adds to the host in place",
        code=NUMBERS + "x.add_(x.cuda())",
        raises=f"RuntimeError: {SAME}, but found at least two devices, cuda:0 and cpu!",
    ),
    Program(
        does="multiplies matrices of a device and the host",
        code=NUMBERS + "x.cuda() @ x.T",
        raises=f"RuntimeError: {SAME}, but got mat2 is on cpu, different from other tensors on cuda:0"
        " (when checking argument in method wrapper_CUDA_mm)",
    ),
    Program(
        does="multiplies matrices of the host and a device",
        code=NUMBERS + "x @ x.cuda().T",
        raises=f"RuntimeError: {SAME}, but got mat2 is on cuda:0, different from other tensors on cpu"
        " (when checking argument in method wrapper_CUDA_mm)",
    ),
    Program(
        does="gives a layer what lies on the host",
        code=NUMBERS + "nn.Linear(3, 2).cuda()(x)",
        raises=f"RuntimeError: {SAME}, but got mat1 is on cpu, different from other tensors on cuda:0"
        " (when checking argument in method wrapper_CUDA_addmm)",
    ),
    Program(
        does="gives a layer what lies on another device",
        code=NUMBERS + "nn.Linear(3, 2).cuda(1)(x.cuda(0))",
        raises=f"RuntimeError: {SAME}, but got mat1 is on cuda:0, different from other tensors on cuda:1"
        " (when checking argument in method wrapper_CUDA_addmm)",
        gpus=2,
    ),
    Program(
        does="convolves on a device with weights of the host",
        code="nn.Conv2d(1, 1, 3)(torch.zeros(2, 1, 8, 8).cuda())",
        raises="RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor)"
        " should be the same",
    ),
    Program(
        does="convolves between devices",
        code="nn.Conv2d(1, 1, 3).cuda(1)(torch.zeros(2, 1, 8, 8).cuda(0))",
        raises=f"RuntimeError: {SAME}, but got weight is on cuda:1, different from other tensors on cuda:0"
        " (when checking argument in method wrapper_CUDA_",
        gpus=2,
    ),
    Program(
        does="embeds with indices of the host",
        code="nn.Embedding(5, 2).cuda()(torch.tensor([1]))",
        raises=f"RuntimeError: {SAME}, but got index is on cpu, different from other tensors on cuda:0"
        " (when checking argument in method wrapper_CUDA__index_select)",
    ),
    Program(
        does="joins tensors of two places",
        code=NUMBERS + "torch.cat([x.cuda(), x])",
        raises=f"RuntimeError: {SAME}, but got tensors is on cpu, different from other tensors on cuda:0"
        " (when checking argument in method wrapper_CUDA_cat)",
    ),
    Program(
        does="takes a loss of targets of the host",
        code=NUMBERS + "nn.CrossEntropyLoss()(x.cuda(), torch.tensor([0, 1]))",
        raises=f"RuntimeError: {SAME}, but got target is on cpu, different from other tensors on cuda:0"
        " (when checking argument in method wrapper_CUDA_nll_loss_forward)",
    ),
    Program(
        does="takes the mean square from targets of the host",
        code=NUMBERS + "nn.MSELoss()(x.cuda(), x)",
        raises=f"RuntimeError: {SAME}, but found at least two devices, cuda:0 and cpu!",
    ),
    Program(
        does="runs an LSTM on what lies on the host",
        code=NUMBERS + "nn.LSTM(3, 2).cuda()(x)",
        raises="RuntimeError: Input and parameter tensors are not at the same device,"
        " found input tensor at cpu and parameter tensor at cuda:0",
    ),
    Program(
        does="indexes the host with indices of a device",
        code=NUMBERS + "x[torch.tensor([0]).cuda()]",
        raises="RuntimeError: indices should be either on cpu or on the same device"
        " as the indexed tensor (cpu)",
    ),
    Program(
        does="takes random numbers of the host's generator",
        code='torch.rand(2, device="cuda", generator=torch.Generator())',
        raises="RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    Program(
        does="uses a device that there is not",
        code='torch.zeros(2, device="cuda:15")',
        raises="AcceleratorError: CUDA error: invalid device ordinal\n"
        "GPU device may be out of range, do you have enough GPUs?",
    ),
    Program(
        does="chooses a device that there is not",
        code="torch.cuda.set_device(15)",
        raises="AcceleratorError: CUDA error: invalid device ordinal\n"
        "GPU device may be out of range, do you have enough GPUs?",
    ),
    Program(
        does="asks for the name of a device that there is not",
        code="torch.cuda.get_device_name(15)",
        raises="AssertionError: Invalid device id",
    ),
    Program(
        does="chooses the host as a device",
        code='torch.cuda.set_device("cpu")',
        raises="ValueError: Expected a cuda device, but got: cpu",
    ),
    Program(
        does="changes the current device",
        code="""
        import threading
        cuda = torch.cuda
        new = lambda: [str(torch.zeros(1, device="cuda").device), str(torch.zeros(1).cuda().device),
                       str(torch.zeros(1).to("cuda").device), str(torch.tensor([1.0], device="cuda").device)]
        with cuda.device(1):
            within = [cuda.current_device(), new()]
        cuda.set_device("cuda:1")
        seen = []
        thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
        thread.start()
        thread.join()
        kept = torch.zeros(1, device="cuda:1")
        result = [within, cuda.current_device(), new(), seen, kept.to("cuda") is kept]
        """,
        gives=[[1, ["cuda:1"] * 4], 1, ["cuda:1"] * 4, [0], True],
        gpus=2,
    ),
    Program(
        does="multiplies a matrix on each device, and adds on one",
        code="""
        torch.manual_seed(1)
        A, B = (torch.randint(-2, 3, (8, 8)).double() for _ in range(2))
        a, b = torch.matrix_power(A.to("cuda:0"), 10), torch.matrix_power(B.to("cuda:1"), 10)
        c = a + b.to("cuda:0")
        right = torch.equal(c.cpu(), torch.matrix_power(A, 10) + torch.matrix_power(B, 10))
        result = [str(a.device), str(b.device), str(c.device), right]
        """,
        gives=["cuda:0", "cuda:1", "cuda:0", True],
        gpus=2,
    ),
    Program(
        does="moves a module in place, and parameters stay what they are",
        code="""
        net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
        before = list(net.parameters())
        moved = net.to("cuda")
        result = [
            moved is net, all(a is b for a, b in zip(before, net.parameters())),
            sorted({str(t.device) for t in net.state_dict().values()}),
            sorted({type(p).__name__ for p in net.parameters()}),
            all(p.is_leaf and p.requires_grad for p in before),
            str(net.cpu()[0].weight.device), str(net.cuda()[1].running_mean.device),
        ]
        """,
        gives=[True, True, ["cuda:0"], ["Parameter"], True, "cpu", "cuda:0"],
    ),
    Program(
        does="copies, saves and loads a module",
        code="""
        import copy, io
        net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).cuda()
        other = copy.deepcopy(net)
        other[1].running_mean.add_(1)
        file = io.BytesIO()
        torch.save(other.state_dict(), file)
        loaded = []
        for where in (None, "cpu"):
            file.seek(0)
            loaded.append(torch.load(file, map_location=where)["1.running_mean"])
        net.load_state_dict({name: value.cpu() for name, value in other.state_dict().items()})
        result = [[str(t.device), t.tolist()] for t in (net[1].running_mean, other[1].running_mean, *loaded)]
        """,
        gives=[["cuda:0", [1.0, 1.0]]] * 3 + [["cpu", [1.0, 1.0]]],
    ),
    Program(
        does="differentiates on a device, also twice, with a function and a hook of its own",
        code="""
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x
            @staticmethod
            def backward(ctx, grad):
                return 2 * grad * ctx.saved_tensors[0]
        x = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
        hooked = []
        x.register_hook(lambda grad: hooked.append(str(grad.device)))
        (Square.apply(x) * x.detach()).sum().backward()
        first, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
        second, = torch.autograd.grad(first.sum(), x)
        result = [x.grad.tolist(), str(x.grad.device), hooked[0], first.tolist(), second.tolist()]
        """,
        gives=[[2.0, 8.0], "cuda:0", "cuda:0", [3.0, 12.0], [6.0, 12.0]],
    ),
    Program(
        does="differentiates through several devices",
        code="""
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = (x.to("cuda:0") * 3).to("cuda:1") ** 2
        y.cpu().sum().backward()
        result = [x.grad.tolist(), str(x.grad.device)]
        """,
        gives=[[18.0, 36.0], "cpu"],
        gpus=2,
    ),
    Program(
        does="trains a network that is split over two devices as one that is not",
        code="""
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4))
                self.relu = nn.ReLU(inplace=True)
            def forward(self, x):
                return self.relu(self.body(x) + x)
        torch.manual_seed(1)
        first = nn.Sequential(nn.Conv2d(3, 4, 3, 2), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), Block())
        second = nn.Sequential(Block(), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(4, 5))
        images, labels = torch.randn(6, 3, 16, 16).double(), torch.eye(5)[torch.arange(6) % 5].double()
        def train(a, b):
            one, two = first.double().to(a), second.double().to(b)
            optimizer = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1, momentum=0.9)
            losses = []
            for _ in range(4):
                optimizer.zero_grad()
                loss = nn.MSELoss()(two(one(images.to(a)).to(b)), labels.to(b))
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses
        import copy
        begin = copy.deepcopy((first.state_dict(), second.state_dict()))
        split = train("cuda:0", "cuda:1")
        first.load_state_dict(begin[0]), second.load_state_dict(begin[1])
        whole = train("cpu", "cpu")
        near = max(abs(a - b) for a, b in zip(split, whole)) < 1e-9
        result = [near, split[3] < split[0]]
        """,
        gives=[True, True],
        gpus=2,
    ),
    Program(
        does="trains an LSTM and a classifier as on the host",
        code="""
        torch.manual_seed(1)
        net = nn.ModuleList([nn.Embedding(9, 4), nn.LSTM(4, 5, 2, batch_first=True), nn.Linear(5, 3)])
        net.double()
        words, labels = torch.arange(12).reshape(4, 3) % 9, torch.tensor([0, 1, 2, 0])
        def gradients(device):
            net.to(device).zero_grad()
            out, _ = net[1](net[0](words.to(device)))
            nn.CrossEntropyLoss()(net[2](out[:, -1]), labels.to(device)).backward()
            return [p.grad.cpu() for p in net.parameters()]
        result = all(torch.allclose(a, b) for a, b in zip(gradients("cuda"), gradients("cpu")))
        """,
        gives=True,
    ),
    Program(
        does="makes optimizer steps as on the host",
        code="""
        def steps(kind, device):
            p = nn.Parameter(torch.tensor([1.0, -2.0], dtype=torch.float64, device=device))
            optimizer = kind([p], lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                (p ** 2).sum().backward()
                nn.utils.clip_grad_norm_([p], 1.0)
                optimizer.step()
            return p.detach().cpu()
        kinds = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop)
        result = [torch.allclose(steps(kind, "cuda"), steps(kind, "cpu")) for kind in kinds]
        """,
        gives=[True] * 4,
    ),
    Program(
        does="classifies as on the host, with what AlexNet is made of",
        code="""
        torch.manual_seed(1)
        net = nn.Sequential(
            nn.Conv2d(3, 6, 5, 2, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d((2, 2)),
            nn.Flatten(), nn.Dropout(), nn.Linear(24, 8), nn.ReLU(inplace=True), nn.Linear(8, 4),
            nn.LogSoftmax(1),
        ).double().eval()
        images = torch.randn(2, 3, 24, 24).double()
        with torch.no_grad():
            host = net(images)
            device = net.cuda()(images.cuda())
        result = [torch.allclose(host, device.cpu()), device.argmax(1).tolist() == host.argmax(1).tolist()]
        """,
        gives=[True, True],
    ),
    Program(
        does="drops out about as many as it shall, and scales the rest",
        code="""
        torch.manual_seed(1)
        out = nn.Dropout(0.25)(torch.ones(10000, device="cuda"))
        kept = (out != 0).float().mean().item()
        result = [0.7 < kept < 0.8, sorted({round(v, 4) for v in out.tolist()})]
        """,
        gives=[True, [0.0, 1.3333]],
    ),
    Program(
        does="repeats random numbers by their seed, apart from the host's",
        code="""
        def both(seed):
            seed(5)
            return torch.rand(3, device="cuda").tolist()
        torch.manual_seed(1)
        host = torch.rand(3).tolist()
        torch.manual_seed(1)
        torch.rand(3, device="cuda")
        result = [torch.rand(3).tolist() == host, both(torch.manual_seed) == both(torch.cuda.manual_seed)]
        """,
        gives=[True, True],
    ),
    Program(
        does="splits a batch of 50 into 25 and 25",
        code="""
        seen = []
        class Dummy(nn.Module):
            def __init__(self, m):
                super().__init__()
                self.m = m
            def forward(self, x):
                seen.append([list(x.size()), str(x.device)])
                return self.m(x)
        torch.manual_seed(1)
        model = Dummy(nn.Sequential(nn.Linear(10, 5), nn.BatchNorm1d(5, affine=False).eval())).double()
        x = torch.randn(50, 10).double()
        def both(call, x):
            model.zero_grad()
            y = call(x)
            (y ** 2).sum().backward()
            return y.detach().cpu(), model.m[0].weight.grad.cpu().clone()
        host = both(model, x)
        model.to("cuda")
        parallel = nn.DataParallel(model, device_ids=[0, 1])
        seen.clear()
        same = [torch.allclose(a, b) for given in (x, x.cuda()) for a, b in zip(both(parallel, given), host)]
        result = [sorted(seen), str(parallel(x).device), same]
        """,
        gives=[[[[25, 10], "cuda:0"]] * 2 + [[[25, 10], "cuda:1"]] * 2, "cuda:0", [True] * 4],
        gpus=2,
    ),
    Program(
        does="splits a batch that does not divide over four devices",
        code="""
        seen = []
        class Dummy(nn.Module):
            def forward(self, x):
                seen.append([x.size(0), str(x.device)])
                return x
        y = nn.DataParallel(Dummy(), device_ids=[0, 1, 2, 3])(torch.arange(10.0, device="cuda")[:, None])
        result = [sorted(seen), y.flatten().tolist()]
        """,
        gives=[[[1, "cuda:3"], [3, "cuda:0"], [3, "cuda:1"], [3, "cuda:2"]], [float(i) for i in range(10)]],
        gpus=4,
    ),
    Program(
        does="scatters, broadcasts and gathers",
        code="""
        comm = torch.nn.parallel.comm
        x = torch.arange(6.0, device="cuda:0").reshape(3, 2)
        parts = comm.scatter(x, [0, 1], [1, 2])
        copies = comm.broadcast(x, [0, 1])
        whole = [comm.gather(parts, 0, where) for where in (1, "cpu")]
        total = comm.reduce_add(copies, 0)
        seen = [[str(t.device), t.flatten().tolist()] for t in (*parts, *whole, total)]
        result = [*seen, copies[0] is x, str(copies[1].device), torch.equal(copies[1].cpu(), x.cpu())]
        """,
        gives=[
            ["cuda:0", [0.0, 1.0]],
            ["cuda:1", [2.0, 3.0, 4.0, 5.0]],
            ["cuda:1", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]],
            ["cpu", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]],
            ["cuda:0", [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]],
            True,
            "cuda:1",
            True,
        ],
        gpus=2,
    ),
    Program(
        does="divides over devices a module that is on the host",
        code="nn.DataParallel(nn.Linear(3, 2), device_ids=[0, 1])(torch.zeros(4, 3))",
        raises="RuntimeError: module must have its parameters and buffers on device cuda:0 (device_ids[0])"
        " but found one of them on device: cpu",
        gpus=2,
    ),
    Program(
        does="times with events and streams",
        code="""
        import time
        cuda = torch.cuda
        begin, end = (cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        time.sleep(0.03)
        y = torch.ones(4, device="cuda") * 2
        end.record()
        cuda.synchronize()
        stream = cuda.Stream()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            inside = cuda.current_stream() == stream
            z = y + 1
        cuda.current_stream().wait_event(stream.record_event())
        stream.synchronize()
        outside = cuda.current_stream() == cuda.default_stream()
        elapsed = 20 <= begin.elapsed_time(end) < 20000
        result = [elapsed, end.query(), inside, outside, z.tolist(), str(stream.device)]
        """,
        gives=[True, True, True, True, [3.0] * 4, "cuda:0"],
    ),
    Program(
        does="uses a stream of another device",
        code="""
        stream = torch.cuda.Stream(1)
        with torch.cuda.stream(stream):
            within = [torch.cuda.current_device(), str(torch.zeros(1, device="cuda").device)]
        result = [within, torch.cuda.current_device(), str(stream.device)]
        """,
        gives=[[1, "cuda:1"], 0, "cuda:1"],
        gpus=2,
    ),
    Program(
        does="measures between events without a time",
        code="""
        a, b = torch.cuda.Event(), torch.cuda.Event()
        a.record(), b.record()
        a.elapsed_time(b)
        """,
        raises="ValueError: Both events must be created with argument 'enable_timing=True'.",
    ),
    Program(
        does="measures between events that did not happen",
        code="torch.cuda.Event(enable_timing=True).elapsed_time(torch.cuda.Event(enable_timing=True))",
        raises="ValueError: Both events must be recorded before calculating elapsed time.",
    ),
    Program(
        does="counts what is allocated",
        code="""
        cuda = torch.cuda
        cuda.empty_cache()
        before = cuda.memory_allocated()
        y = torch.zeros(1000, device="cuda")
        small = torch.zeros(1, device="cuda")
        z = y.view(10, 100)
        with_both = cuda.memory_allocated() - before
        del y, small
        still = cuda.memory_allocated(0) - before
        del z
        after = cuda.memory_allocated("cuda:0") - before
        late = torch.zeros(1, device="cuda")
        peak = cuda.max_memory_allocated() - before
        cuda.reset_peak_memory_stats()
        result = [with_both, still, after, peak, cuda.max_memory_allocated() - before]
        """,
        gives=[4608, 4096, 0, 4608, 512],
    ),
    Program(
        does="takes a default device, and a context of one",
        code="""
        torch.set_default_device("cuda:0")
        made = [torch.zeros(1), torch.tensor([1.0]), nn.Linear(2, 2).weight, torch.ones(1).exp()]
        torch.set_default_device("cpu")
        with torch.device("cuda:0"):
            made.append(torch.arange(3))
        result = sorted({str(t.device) for t in made})
        """,
        gives=["cuda:0"],
    ),
    Program(
        does="gives a parameter the gradient of another device",
        code="nn.Parameter(torch.zeros(2).cuda()).grad = torch.zeros(2)",
        raises="RuntimeError: attempting to assign a gradient with device type 'cpu' to a tensor with device"
        " type 'cuda'",
    ),
)

EACH = pytest.mark.parametrize("program", PROGRAMS, ids=[program.does for program in PROGRAMS])


def outcome(run, code):
    try:
        return run(dedent(code))
    except Exception as error:
        return str(error)


def compare(run, program):
    came = outcome(run, program.code)
    if program.raises is None:
        assert came == program.gives
    else:
        assert str(came).startswith(program.raises)


@EACH
def test_a_program_does_on_virtual_gpus_what_its_row_says(virtual, program):
    compare(virtual, program)


@pytest.mark.gpu
@EACH
def test_a_program_does_on_real_gpus_what_its_row_says(real, program):
    have = outcome(real, "result = torch.cuda.device_count()")
    if not isinstance(have, int) or have < program.gpus:
        pytest.skip(f"needs {program.gpus} GPUs, and here are {have}")
    compare(real, program)
