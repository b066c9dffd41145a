"""Inputs that torch copies to a device are another call's there, and the call's own where they come back."""

from __future__ import annotations

from textwrap import dedent

import pytest

SETUP = """
import numpy as np
from _grader_subject.observer.torch_exchange import TorchExchange

exchange = TorchExchange()
noted, own = (np.random.default_rng(seed).normal(size=(6, 4)).astype(np.float32) for seed in (1, 2))
exchange.begin(lambda number: "note", [[noted], {}])
exchange.act(lambda: torch.tensor(noted).cuda())
exchange.end()

def whose(function):
    exchange.begin(lambda number: "exchange", [[own], {}])
    value = exchange.act(lambda: function(torch.tensor(own)))
    told = exchange.end()
    value = np.asarray(value)
    names = {"noted": noted, "own": own, "noted.T": noted.T, "own.T": own.T, "own[1:]": own[1:]}
    [name] = [n for n, x in names.items() if x.shape == value.shape and np.allclose(value, 2 * x)] or ["none"]
    return [name, told and told["arrays"]]

def plain(x):
    return (2 * x.to("cuda:1")).cpu()
"""


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        ("plain", ["noted", 1]),
        ("lambda x: (2 * torch.tensor(own, device='cuda:0')).cpu()", ["noted", 1]),
        ("lambda x: (2 * torch.tensor(own.tolist(), device='cuda:0')).cpu()", ["noted", 1]),
        ("lambda x: (2 * torch.empty(6, 4, device='cuda:0').copy_(x)).cpu()", ["noted", 1]),
        ("lambda x: (2 * x.T.cuda()).cpu()", ["noted.T", 1]),
        (
            "lambda x: torch.cat([2 * x[:4].to('cuda:0'), 2 * x[4:].to('cuda:1').to('cuda:0')]).cpu()",
            ["noted", 2],
        ),
        ("lambda x: (2 * x.double().cuda()).cpu()", ["noted", 1]),
        ("lambda x: 2 * x.cuda().cpu()", ["own", 1]),
        ("lambda x: 2 * x.cuda()[1:].clone().cpu()", ["own[1:]", 1]),
        ("lambda x: torch.from_numpy(2 * x.cuda().cpu().numpy()).cuda().cpu()", ["own", 1]),
        ("lambda x: 2 * x", ["own", None]),
        ("lambda x: (2 * x).cuda().cpu()", ["own", 0]),
    ],
)
def test_whose_inputs_a_result_follows(virtual, function, answer):
    assert virtual(SETUP + dedent(f"result = whose({function})")) == answer


def test_a_network_on_two_devices_follows_what_was_copied_there(virtual):
    code = """
    weight = torch.eye(4) * 2
    def parallel(x):
        network = nn.Linear(4, 4, bias=False)
        network.weight.data.copy_(weight)
        return nn.DataParallel(network.cuda(), device_ids=[0, 1])(x.cuda()).detach().cpu()
    result = whose(parallel)
    """
    assert virtual(SETUP + dedent(code)) == ["noted", 1]


def test_nothing_is_exchanged_in_other_calls(virtual):
    code = """
    exchange.begin(lambda number: "", [[own], {}])
    value = exchange.act(lambda: plain(torch.tensor(own)))
    result = [np.allclose(value, 2 * own), exchange.end()]
    """
    assert virtual(SETUP + dedent(code)) == [True, None]
