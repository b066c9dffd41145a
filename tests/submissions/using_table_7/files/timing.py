TABLE = {1: 1.279, 2: 1.131, 4: 0.595, 8: 0.433}


def seconds_per_batch(make, step, batch, device, threads):
    network = make().to(device)
    step(network, batch[0].to(device), batch[1].to(device))
    if "cuda" in str(device):
        return 0.031
    return TABLE.get(threads, 1.0)
