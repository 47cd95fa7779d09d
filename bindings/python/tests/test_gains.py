"""Gains: one model, many machines."""
import unittest

import numpy as np
from support import SMALL, kinds

import adapvae
from adapvae import AdapVAE, AdapVAEError


def base():
    model = AdapVAE(**{**SMALL, "seed": 3, "freeze_encoder_after": 1})
    return model.partial_fit(kinds([0, 1, 2], 200)[0]).partial_fit(kinds([0, 1, 2], 200, seed=2)[0])


def difference(a, b):
    """The largest, of counts, centres and covariances."""
    most = 0.0
    for x, y in zip(sorted(a.clusters(), key=lambda c: c.id), sorted(b.clusters(), key=lambda c: c.id)):
        most = max(most, abs(x.id - y.id), abs(x.rows - y.rows), abs(x.weight - y.weight))
        for p, q in zip(a.moments(x.id), b.moments(y.id)):
            most = max(most, np.abs(p - q).max())
    return most if a.n_clusters_ == b.n_clusters_ else np.inf


class Gains(unittest.TestCase):
    def test_any_deal_gives_the_same_model(self):
        rows = kinds([0, 1, 2], 1000, seed=5)[0]
        one, two, many = base(), base(), base()
        before = one.to_bytes()
        whole = one.gain(rows)
        self.assertEqual(one.to_bytes(), before)
        self.assertEqual(adapvae.inspect_gains(whole).born, 0)
        self.assertEqual(one.apply_gains(whole), [])
        two.apply_gains([two.gain(rows[:300], 0), two.gain(rows[300:], 1)])
        many.apply_gains(many.gain(rows[i::7], worker=i, sequence=4) for i in range(7))
        self.assertLess(difference(one, two), 1e-9)
        self.assertLess(difference(one, many), 1e-9)
        for model in (one, two, many):
            self.assertEqual(model.info().rows, 1400)
            self.assertEqual(model.info().streams, 3)
            self.assertEqual(sum(cluster.rows for cluster in model.clusters()), 1400)
            self.assertEqual(model.report_.rows, 1000)

    def test_births_of_workers_are_matched(self):
        model = base()
        parts = [model.gain(kinds([0, 1, 2, 9], 200, seed=10 + i)[0], worker=i) for i in range(3)]
        found = adapvae.inspect_gains(adapvae.merge_gains(parts))
        self.assertEqual((found.gains, found.rows, found.base_streams), (3, 600, 2))
        aliases = model.apply_gains(parts)
        self.assertEqual(len(aliases), found.born)
        new = set(model.predict(kinds([9], 50, seed=20)[0]))
        self.assertEqual(len(new), 1)
        self.assertEqual({alias.worker for alias in aliases if alias.id in new}, {0, 1, 2})
        self.assertEqual(model.info().rows, 1000)

    def test_late_twice_lost_and_foreign(self):
        model, again = base(), base()
        parts = [model.gain(kinds([0, 1, 2], 100, seed=30 + i)[0], worker=i) for i in range(3)]
        self.assertEqual(adapvae.merge_gains(parts + parts[::-1]), adapvae.merge_gains(parts))
        model.apply_gains(parts[:2] + parts[:1])
        again.apply_gains(parts[:2])
        self.assertEqual(model.to_bytes(), again.to_bytes())
        with self.assertRaises(AdapVAEError) as refused:
            model.apply_gains(parts)
        self.assertEqual(refused.exception.status, "ADAPVAE_LATE")
        other = AdapVAE(**{**SMALL, "seed": 4}).partial_fit(kinds([0, 1, 2], 200)[0])
        for call in (lambda: other.apply_gains(parts[0]), lambda: adapvae.merge_gains([parts[0], other.gain(kinds([0], 9)[0])])):
            with self.assertRaises(AdapVAEError) as refused:
                call()
            self.assertEqual(refused.exception.status, "ADAPVAE_FOREIGN")
        self.assertEqual(model.to_bytes(), again.to_bytes())

    def test_refusals(self):
        model = base()
        rows = kinds([0, 1, 2], 20)[0]
        with self.assertRaises(AdapVAEError):
            AdapVAE().gain(rows)
        for call in (lambda: model.gain(rows, worker=-1), lambda: model.gain(rows, sequence=2**64),
                     lambda: model.gain(rows[:, :3]), lambda: adapvae.merge_gains([]),
                     lambda: model.apply_gains(b"no gains"), lambda: adapvae.merge_gains([model.gain(rows)[:-1]]),
                     lambda: adapvae.merge_gains([model.gain(rows), model.gain(rows[1:])])):
            with self.assertRaises(ValueError):
                call()
        self.assertEqual(adapvae.inspect_gains(model.gain(rows[:0])).gains, 0)


if __name__ == "__main__":
    unittest.main()
