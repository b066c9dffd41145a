"""The record says which device ran what, and what went from where to where."""

RAN = {"allocated_bytes": 0, "peak_bytes": 0}


def device(record, index):
    return record["devices"][index]


def test_operators_are_counted_on_the_device_that_ran_them(virtual):
    record = virtual(
        """
        a, b = torch.rand(8, 8, device="cuda:1"), torch.rand(8, 8, device="cuda:2")
        placement.forget()
        c, d = torch.matrix_power(a, 10), b @ b
        result = placement.plain()
        """
    )
    assert [device(record, i)["operators"] for i in range(4)] == [{}, {"mm": 4}, {"mm": 1}, {}]
    assert record["copies"] == []


def test_an_element_wise_power_is_none_of_a_matrix(virtual):
    record = virtual('torch.rand(8, 8, device="cuda:1") ** 10\nresult = placement.plain()')
    assert device(record, 1)["operators"] == {"uniform": 1, "pow": 1}


def test_what_autograd_runs_is_counted_too(virtual):
    record = virtual(
        """
        layer = nn.Linear(4, 4, bias=False).to("cuda:3")
        x = torch.rand(2, 4, device="cuda:3")
        placement.forget()
        layer(x).sum().backward()
        result = placement.plain()
        """
    )
    assert device(record, 3)["operators"] == {"mm": 2, "sum": 1, "fill": 1}


def test_copies_have_both_ends_and_their_bytes(virtual):
    record = virtual(
        """
        x = torch.zeros(10, 10).to("cuda:0")
        y = x.to("cuda:1")
        y.to("cuda:1")
        y.clone()
        y.double().cpu()
        x.sum().item()
        result = placement.plain()
        """
    )
    assert record["copies"] == [
        {"from": "cpu", "to": "cuda:0", "count": 1, "bytes": 400},
        {"from": "cuda:0", "to": "cpu", "count": 1, "bytes": 4},
        {"from": "cuda:0", "to": "cuda:1", "count": 1, "bytes": 400},
        {"from": "cuda:1", "to": "cpu", "count": 1, "bytes": 800},
    ]
    assert device(record, 1)["operators"] == {"copy": 2}


def test_memory_is_counted_in_blocks_while_anything_uses_it(virtual):
    record = virtual(
        """
        x = torch.zeros(1000, device="cuda:2")
        part = x[3:]
        del x
        y = torch.zeros(1000, device="cuda:2")
        del y
        torch.cuda.reset_peak_memory_stats(2)
        first = placement.plain()
        placement.forget()
        del part
        result = [first, placement.plain()]
        """
    )
    seen = [(device(one, 2)["allocated_bytes"], device(one, 2)["peak_bytes"]) for one in record]
    assert seen == [(4096, 8192), (0, 4096)]


def test_data_parallel_shows_what_each_device_did(virtual):
    record = virtual(
        """
        net = nn.DataParallel(nn.Linear(10, 5).cuda(), device_ids=[0, 1])
        x = torch.rand(50, 10).cuda()
        placement.forget()
        net(x)
        result = placement.plain()
        """
    )
    assert [device(record, i)["operators"].get("addmm") for i in range(3)] == [1, 1, None]
    assert {"from": "cuda:0", "to": "cuda:1", "count": 3, "bytes": 4 * (25 * 10 + 10 * 5 + 5)} in record[
        "copies"
    ]


def test_there_is_an_empty_record_before_anything_ran(virtual):
    record = virtual("result = placement.plain()")
    assert record["devices"] == [{"device": i, "operators": {}, **RAN} for i in range(4)]
