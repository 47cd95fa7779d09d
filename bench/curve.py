"""Loss per epoch of a plain VAE on MNIST: ours and PyTorch's, from the same start.

usage: curve.py --build DIRECTORY --data MNIST_FOLDER [--epochs N]
Fails if the curves are more than 2 % apart anywhere.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn

SIZES, LATENT, BATCH = [784, 256, 64], 10, 100


def linear(inputs, outputs, values):
    layer = nn.Linear(inputs, outputs)
    weights = values[: inputs * outputs].reshape(inputs, outputs)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.T.copy()))
        layer.bias.copy_(torch.from_numpy(values[inputs * outputs : (inputs + 1) * outputs].copy()))
    return layer, values[(inputs + 1) * outputs :]


def chain(widths, values):
    layers = []
    for i in range(len(widths) - 1):
        layer, values = linear(widths[i], widths[i + 1], values)
        layers.append(layer)
        if i + 2 < len(widths):
            layers.append(nn.ReLU())
    return nn.Sequential(*layers), values


def torch_curve(rows, start, epochs):
    encoder, rest = chain(SIZES + [2 * LATENT], start)
    decoder, rest = chain([LATENT] + SIZES[::-1], rest)
    assert rest.size == 0
    parameters = list(encoder.parameters()) + list(decoder.parameters())
    optimiser = torch.optim.Adam(parameters, lr=1e-3)
    for epoch in range(epochs):
        total = 0.0
        for part in torch.randperm(len(rows)).split(BATCH):
            x = rows[part]
            heads = encoder(x)
            mean, log_variance = heads[:, :LATENT], heads[:, LATENT:].clamp(-10, 4)
            z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
            fit = nn.functional.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum")
            divergence = 0.5 * (mean.pow(2) + log_variance.exp() - 1 - log_variance).sum()
            loss = (fit + divergence) / len(x)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            total += loss.item() * len(x)
        yield total / len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    names = [n for n in os.listdir(options.data) if n.startswith("train-images")]
    images = os.path.join(options.data, names[0])
    with tempfile.TemporaryDirectory() as folder:
        start_file = os.path.join(folder, "start.f32")
        lines = subprocess.run([os.path.join(options.build, "bench", "vae_curve"), images,
                                str(options.epochs), start_file],
                               check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        start = np.fromfile(start_file, dtype=np.float32)
    pixels = np.fromfile(images, dtype=np.uint8)[16:].reshape(-1, 784)
    rows = torch.from_numpy(pixels.astype(np.float32) / 255)
    print(f"{len(rows)} rows, 784-256-64-10, batch {BATCH}, Adam 1e-3; nats per row")
    print("epoch      ours     torch   apart")
    worst = 0.0
    for epoch, (ours, peer) in enumerate(zip(map(float, lines),
                                             torch_curve(rows, start, options.epochs)), 1):
        apart = abs(ours - peer) / peer
        worst = max(worst, apart)
        print(f"{epoch:5} {ours:9.3f} {peer:9.3f} {100 * apart:6.2f} %", flush=True)
    print(f"largest difference {100 * worst:.2f} %")
    sys.exit(1 if worst > 0.02 else 0)


main()
