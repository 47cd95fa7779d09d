"""Many processes, by Dask's own cluster on this machine."""
import os
import tempfile
import unittest

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas
from distributed import Client, LocalCluster
from support import kinds
from test_gains import base, difference

import adapvae.dask
from adapvae import AdapVAE, AdapVAEError

ROWS = kinds([0, 1, 2], 2000, seed=5)[0]
MIXED = np.concatenate([ROWS[:900], kinds([9, 1], 300, seed=6)[0]])


def cluster_of(workers):
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None,
                        silence_logs="CRITICAL")


def die_once(rows, mark):
    """The process that gets these rows first is gone."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return rows
    os._exit(1)


class Dask(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = base().to_bytes()
        cls.models = {}
        for workers in (1, 2):
            with cluster_of(workers) as cluster, Client(cluster) as client:
                model, mixed, frame = (AdapVAE.from_bytes(cls.base) for _ in range(3))
                cls.none = adapvae.dask.partial_fit(model, dask.array.from_array(ROWS, chunks=(300, 5)), client)
                cls.born = adapvae.dask.partial_fit(mixed, dask.array.from_array(MIXED, chunks=(300, 8)))
                table = dask.dataframe.from_pandas(pandas.DataFrame(ROWS), npartitions=5)
                adapvae.dask.partial_fit(frame, table)
                cls.models[workers] = model, mixed, frame
                if workers == 2:
                    cls.lost = AdapVAE.from_bytes(cls.base)
                    with tempfile.TemporaryDirectory() as folder:
                        parts = [dask.delayed(die_once)(ROWS[at:at + 300], os.path.join(folder, "mark"))
                                 if at == 600 else dask.delayed(ROWS[at:at + 300]) for at in range(0, 2000, 300)]
                        adapvae.dask.partial_fit(cls.lost, parts, client)
                        cls.died = os.listdir(folder) == ["mark"]
                    client.wait_for_workers(2)
                    cls.futures = AdapVAE.from_bytes(cls.base)
                    sent = client.scatter([ROWS[at:at + 300] for at in range(0, 2000, 300)])
                    adapvae.dask.partial_fit(cls.futures, sent, client)

    def test_two_workers_are_one(self):
        alone = AdapVAE.from_bytes(self.base)  # no Dask at all, and no partitions
        alone.apply_gains(alone.gain(ROWS))
        for one, two in zip(self.models[1], self.models[2]):
            self.assertEqual(one.to_bytes(), two.to_bytes())
        for model in (self.models[2][0], self.models[2][2]):
            self.assertEqual(model.info().rows, 2400)
            self.assertLess(difference(alone, model), 1e-9)
        self.assertEqual(self.none, [])

    def test_births(self):
        model = self.models[2][1]
        new = set(model.predict(kinds([9], 50, seed=7)[0]))
        self.assertEqual(len(new), 1)
        self.assertIn(3, {alias.worker for alias in self.born if alias.id in new})
        self.assertEqual(model.info().rows, 1600)

    def test_a_lost_worker_counts_once(self):
        self.assertTrue(self.died)
        self.assertEqual(self.lost.to_bytes(), self.models[1][0].to_bytes())
        self.assertEqual(self.futures.to_bytes(), self.lost.to_bytes())

    def test_threads_without_a_cluster(self):
        model = AdapVAE.from_bytes(self.base)
        adapvae.dask.partial_fit(model, dask.array.from_array(ROWS, chunks=(300, 8)))
        self.assertEqual(model.to_bytes(), self.models[1][0].to_bytes())

    def test_refusals(self):
        model = AdapVAE.from_bytes(self.base)
        with self.assertRaises(AdapVAEError):
            adapvae.dask.partial_fit(AdapVAE(), [ROWS])
        with self.assertRaises(TypeError):
            adapvae.dask.partial_fit(model, ROWS)
        with self.assertRaises(ValueError):
            adapvae.dask.partial_fit(model, dask.array.from_array(ROWS[0], chunks=4))
        bad = ROWS[:10].copy()
        bad[4, 1] = np.inf
        with self.assertRaises(AdapVAEError):
            adapvae.dask.partial_fit(model, [ROWS[:10], bad])
        self.assertEqual(adapvae.dask.partial_fit(model, []), [])
        self.assertEqual(model.to_bytes(), self.base)


if __name__ == "__main__":
    unittest.main()
