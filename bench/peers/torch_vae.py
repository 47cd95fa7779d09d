"""PyTorch as the peer of bench_vae: the same network, loss, batch and optimiser.

usage: torch_vae.py INPUTS,HIDDEN...,LATENT BATCH THREADS
One line on standard input = one timed burst; prints the best seconds per step.
"""
import sys
import time

import torch
from torch import nn

sizes = [int(x) for x in sys.argv[1].split(",")]
batch = int(sys.argv[2])
torch.set_num_threads(int(sys.argv[3]))
inputs, hidden, latent = sizes[0], sizes[1:-1], sizes[-1]


def chain(widths):
    layers = []
    for i in range(len(widths) - 1):
        layers.append(nn.Linear(widths[i], widths[i + 1]))
        if i + 2 < len(widths):
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


encoder = chain([inputs] + hidden + [2 * latent])
decoder = chain([latent] + hidden[::-1] + [inputs])
parameters = list(encoder.parameters()) + list(decoder.parameters())
optimiser = torch.optim.Adam(parameters, lr=1e-3)
rows = torch.rand(10, batch, inputs)


def step(x):
    heads = encoder(x)
    mean, log_variance = heads[:, :latent], heads[:, latent:].clamp(-10, 4)
    z = mean + torch.exp(0.5 * log_variance) * torch.randn(batch, latent)
    logits = decoder(z)
    reconstruction = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = 0.5 * (mean.pow(2) + log_variance.exp() - 1 - log_variance).sum()
    loss = (reconstruction + divergence) / batch
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return loss


count = 0
for _ in sys.stdin:
    best = 1e30
    until = time.perf_counter() + 1.0
    while time.perf_counter() < until:
        start = time.perf_counter()
        steps = 0
        while True:
            step(rows[count % 10])
            count += 1
            steps += 1
            if time.perf_counter() - start > 1e-3:
                break
        best = min(best, (time.perf_counter() - start) / steps)
    print(f"{best:.9g} torch-{torch.__version__}", flush=True)
