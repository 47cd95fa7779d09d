"""Rows for the tests."""
import numpy as np

# Quick to learn.
SMALL = dict(latent=3, hidden1=16, hidden2=0, pretrain_epochs=30, joint_epochs=4, adapt_epochs=4, learning_rate=0.005,
             block_rows=200, batch=20, max_clusters=10)


def kinds(which, count, seed=1, inputs=8):
    """Rows in [0, 1] of these kinds in turn, and the kind of each."""
    random = np.random.default_rng(seed)
    centres = (np.random.default_rng(99).random((10, inputs)) > 0.5) * 0.8 + 0.1
    labels = np.array([which[i % len(which)] for i in range(count)])
    rows = centres[labels] + random.normal(0, 0.02, (count, inputs))
    return np.clip(rows, 0, 1).astype(np.float32), labels
