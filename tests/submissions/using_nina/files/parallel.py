import torch
import torch.nn as nn


def parallel_forward(model, x, devices):
    ids = [torch.device(d).index for d in devices]
    model = model.cuda(ids[0])
    parallel = nn.DataParallel(model, device_ids=ids, output_device=ids[0])
    return parallel(x.cuda(ids[0]))


def parallel_step(model, x, y, devices, rate):
    output = parallel_forward(model, x, devices)
    loss = ((output - y.to(output.device)) ** 2).mean()
    for p in model.parameters():
        p.grad = None
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= rate * p.grad
    return loss
