"""The whole interface, by a package that is installed."""
import copy
import dataclasses
import gc
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
from support import SMALL, kinds

import adapvae
from adapvae import AdapVAE, AdapVAEError


def learnt(**more):
    return AdapVAE(**{**SMALL, "seed": 3, **more}).partial_fit(kinds([0, 1, 2], 200)[0])


class Learning(unittest.TestCase):
    def test_start(self):
        rows, labels = kinds([0, 1, 2], 200)
        model = AdapVAE(**SMALL)
        self.assertIs(model.partial_fit(rows), model)
        self.assertGreater(model.n_clusters_, 1)
        self.assertGreater(adapvae.evaluate(labels, model.predict(rows)).nmi, 0.8)
        self.assertLess((model.novelty(rows) > 0.5).mean(), 0.1)
        self.assertGreater((model.novelty(kinds([7], 50)[0]) > 0.5).mean(), 0.9)
        self.assertEqual(model.report_.rows, 200)
        self.assertEqual(model.info().rows, 200)

    def test_the_page_s_code(self):
        rows = np.random.default_rng(1).random((60, 784), dtype="float32")
        model = AdapVAE(preset="browser", seed=2, events=64, pretrain_epochs=1, joint_epochs=1, neighbour_epochs=1)
        self.assertEqual(model.novelty(rows).tolist(), [1.0] * 60)  # before they are learnt
        model.partial_fit(rows)
        self.assertEqual(model.predict(rows).shape, (60,))
        self.assertEqual(model.novelty(rows).shape, (60,))
        with tempfile.TemporaryDirectory() as folder:
            model.save(os.path.join(folder, "x.safetensors"))
            self.assertEqual(os.listdir(folder), ["x.safetensors"])
            self.assertEqual(adapvae.inspect(os.path.join(folder, "x.safetensors")).rows, 60)

    def test_a_new_kind_is_born_and_old_ids_stay(self):
        model = learnt()
        old = kinds([0, 1, 2], 150, seed=5)[0]
        before = model.predict(old)
        model.partial_fit(kinds([0, 1, 2, 6], 200, seed=6)[0])
        self.assertIn(("born", 2), [(event.type, event.stream) for event in model.events()])
        self.assertGreater((model.predict(old) == before).mean(), 0.95)
        self.assertEqual(len(set(model.predict(kinds([6], 50, seed=7)[0])) & set(before)), 0)

    def test_streams_are_the_same_however_they_come(self):
        rows = kinds([0, 1, 2], 500)[0]
        whole, parts, single = (AdapVAE(**SMALL, likelihood="bernoulli") for _ in range(3))
        whole.partial_fit(rows)
        self.assertEqual(whole.report_.streams, 3)
        for at in range(0, 500, 70):
            parts.push(rows[at:at + 70])
        self.assertEqual(parts.info().rows_waiting, 100)
        with self.assertRaises(AdapVAEError):
            parts.learn(rows[:10])  # while rows wait
        parts.flush()
        for row in rows:
            single.learn_one(row)
        single.flush()
        self.assertEqual(parts.to_bytes(), whole.to_bytes())
        self.assertEqual(single.to_bytes(), whole.to_bytes())

    def test_forms_of_rows(self):
        rows = kinds([0, 1, 2], 200)[0]
        expected = AdapVAE(**SMALL).partial_fit(rows)
        wide = np.full((200, 11), np.nan, np.float32)
        wide[:, 2:10] = rows
        doubled = np.repeat(rows, 2, axis=0)
        odd = np.frombuffer(b"x" + rows.tobytes(), np.uint8)[1:].view(np.float32).reshape(200, 8)
        for form in (rows.astype(np.float64), np.asfortranarray(rows), wide[:, 2:10], doubled[::2], rows[::-1][::-1],
                     rows.astype(">f4"), rows.tolist(), odd):
            self.assertEqual(AdapVAE(**SMALL).partial_fit(form).to_bytes(), expected.to_bytes())
            np.testing.assert_array_equal(expected.score_rows(form), expected.score_rows(rows))

    def test_data_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas")
        rows = kinds([0, 1, 2], 200)[0]
        frame = pandas.DataFrame(rows, columns=list("abcdefgh"))
        model = AdapVAE(**SMALL).fit(frame)
        self.assertEqual(list(model.feature_names_in_), list("abcdefgh"))
        np.testing.assert_array_equal(model.predict(frame), AdapVAE(**SMALL).fit(rows).labels_)
        with self.assertRaisesRegex(ValueError, "same order"):
            model.predict(frame[list("hgfedcba")])
        # A row as River gives it, in whatever order.
        mapping = dict(reversed(list(frame.iloc[3].items())))
        self.assertEqual(model.predict_one(mapping), model.labels_[3])

    def test_raw_measurements(self):
        rows = kinds([0, 1, 2], 200)[0] * 300 - 40
        model = AdapVAE(**SMALL).partial_fit(rows)
        self.assertEqual(model.config()["likelihood"], "gaussian")
        self.assertEqual(model.config()["scale_inputs"], "standardise")
        self.assertGreater(model.n_clusters_, 1)
        with self.assertRaises(AdapVAEError) as caught:
            AdapVAE(**SMALL, likelihood="bernoulli").partial_fit(rows)
        self.assertGreaterEqual(caught.exception.index, 0)

    def test_one_at_a_time(self):
        rows = kinds([0, 1, 2], 450)[0] * 50
        model = AdapVAE(**SMALL)
        names = [f"x{i}" for i in range(8)]
        stream = [dict(zip(names, map(float, row))) for row in rows]
        self.assertEqual(model.predict_one(stream[0]), 0)
        self.assertEqual(model.score_one(stream[0]), 1.0)
        scores = []
        for x in stream:
            scores.append(model.score_one(x))
            model.learn_one(x)
        self.assertEqual(scores[:200], [1.0] * 200)
        self.assertLess(np.mean(scores[200:]), 0.5)
        self.assertEqual(model.info().rows_waiting, 50)
        self.assertGreater(model.predict_one(stream[0]), 0)
        with self.assertRaisesRegex(ValueError, "x7"):
            model.learn_one({name: 1.0 for name in names[:7]})
        self.assertEqual(model.info().rows_waiting, 50)

    def test_progress_stop_and_exceptions(self):
        rows = kinds([0, 1, 2], 200)[0]
        seen = []
        model = AdapVAE(**SMALL)
        model.set_progress(lambda stage, fraction: seen.append((stage, fraction)))
        model.partial_fit(rows)
        self.assertEqual(seen[-1], ("close", 1.0))
        self.assertEqual(sorted(fraction for _, fraction in seen), [fraction for _, fraction in seen])

        model.set_progress(lambda stage, fraction: False)
        model.partial_fit(rows)
        self.assertTrue(model.report_.stopped)

        def interrupt(stage, fraction):
            raise KeyboardInterrupt

        model.set_progress(interrupt)
        with self.assertRaises(KeyboardInterrupt):
            model.partial_fit(rows)
        model.set_progress(None)

        def meddle(stage, fraction):
            with self.assertRaises(AdapVAEError) as caught:
                model.predict(rows)
            statuses.add(caught.exception.status)

        statuses = set()
        model.set_progress(meddle)
        model.partial_fit(rows)
        self.assertEqual(statuses, {"ADAPVAE_BUSY"})
        self.assertFalse(model.report_.stopped)

    def test_stop_from_another_thread_and_budget(self):
        rows = kinds([0, 1, 2], 200)[0]
        model = AdapVAE(**{**SMALL, "pretrain_epochs": 10000})
        begun = threading.Event()
        model.set_progress(lambda stage, fraction: begun.set())
        thread = threading.Thread(target=model.partial_fit, args=(rows,))
        thread.start()
        self.assertTrue(begun.wait(60))
        model.stop()
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertTrue(model.report_.stopped)
        model.set_params(adapt_epochs=10000)
        model.set_budget(0.01)
        model.partial_fit(rows)
        self.assertTrue(model.report_.stopped)

    def test_the_interpreter_goes_on_while_it_learns(self):
        rows = kinds([0, 1, 2], 200)[0]
        model = AdapVAE(**{**SMALL, "pretrain_epochs": 10000})
        model.set_progress(lambda stage, fraction: ticks[0] < 1000)
        ticks = [0]
        thread = threading.Thread(target=model.partial_fit, args=(rows,))
        thread.start()
        while thread.is_alive() and ticks[0] < 1000:
            ticks[0] += 1
            time.sleep(0)
        thread.join(60)
        self.assertEqual(ticks[0], 1000)

    def test_verbose(self):
        kept, sys.stderr = sys.stderr, io.StringIO()
        try:
            AdapVAE(**SMALL, verbose=True).partial_fit(kinds([0], 200)[0])
            shown = sys.stderr.getvalue()
        finally:
            sys.stderr = kept
        try:
            import tqdm  # noqa: F401
        except ImportError:
            self.skipTest("no tqdm")
        self.assertIn("100%", shown)


class Looking(unittest.TestCase):
    def test_scores_agree_and_change_nothing(self):
        model = learnt()
        rows = kinds([0, 1, 2, 5], 100, seed=4)[0]
        bytes_ = model.to_bytes()
        records = model.score_rows(rows)
        np.testing.assert_array_equal(model.predict(rows), records["id"])
        np.testing.assert_array_equal(model.novelty(rows), records["novelty"])
        np.testing.assert_array_equal(model.score_samples(rows), records["log_density"])
        np.testing.assert_array_equal(model.decision_function(rows) < 0, records["novelty"] > 0.5)
        self.assertAlmostEqual(model.score(rows), records["log_density"].mean(), places=4)
        self.assertGreater(model.score(kinds([0], 50)[0]), model.score(kinds([5], 50)[0]))
        probability = model.predict_proba(rows)
        self.assertEqual(probability.shape, (100, model.n_clusters_))
        np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_array_equal(model.cluster_ids_[probability.argmax(axis=1)], records["id"])
        features = model.transform(rows)
        self.assertEqual(features.shape, (100, 3))
        np.testing.assert_array_equal(model.inverse_transform(features), model.reconstruct(rows))
        self.assertEqual(model.predict(rows[:0]).shape, (0,))
        self.assertEqual(model.to_bytes(), bytes_)

    def test_before_anything_is_learnt(self):
        model, rows = AdapVAE(**SMALL), kinds([0], 10)[0]
        self.assertEqual(model.predict(rows).tolist(), [0] * 10)
        self.assertEqual(model.novelty(rows).tolist(), [1] * 10)
        self.assertEqual(model.predict_proba(rows).shape, (10, 0))
        self.assertEqual((model.n_clusters_, model.clusters(), model.events()), (0, [], []))
        for call in (model.info, model.sample, model.to_bytes, model.undo, model.flush, lambda: model.n_features_in_):
            self.assertRaises((AdapVAEError, AttributeError), call)
        self.assertNotIn("_native", vars(model))

    def test_made_up_rows(self):
        model = learnt()
        rows, ids = model.sample(50, seed=4)
        self.assertEqual((rows.shape, ids.shape), ((50, 8), (50,)))
        np.testing.assert_array_equal(model.sample(20, seed=4)[0], rows[:20])
        id = int(ids[0])
        self.assertEqual(set(model.sample(5, id=id)[1]), {id})
        line = model.interpolate(model.cluster_ids_[0], model.cluster_ids_[1], 5)
        self.assertEqual(line.shape, (5, 8))
        id = next(cluster.id for cluster in model.clusters() if cluster.components == 1)
        mean, covariance = model.moments(id)
        self.assertTrue((np.linalg.eigvalsh(covariance) > 0).all())
        np.testing.assert_allclose(model.inverse_transform(mean[None]), model.interpolate(id, id, 1), atol=1e-5)

    def test_why(self):
        model = learnt()
        row = kinds([7], 1)[0][0]
        self.assertIn("novel", model.explain(row))
        reason = model.explain(row, "json")
        self.assertIsInstance(reason, dict)
        self.assertAlmostEqual(reason["novelty"], float(model.novelty(row[None])[0]), places=5)
        self.assertRaises(ValueError, model.explain, row, "xml")
        self.assertRaises(ValueError, model.explain, np.stack([row, row]))

    def test_threads_score_one_model(self):
        model, rows = learnt(), kinds([0, 1, 2], 200)[0]
        expected, wrong = model.predict(rows), []

        def look(scorer):
            for _ in range(50):
                if not (scorer.predict(rows) == expected).all():
                    wrong.append(1)

        threads = [threading.Thread(target=look, args=(each,)) for each in (model, model, model.scorer())]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_scorer(self):
        model, rows = learnt(), kinds([0, 1, 2, 6], 200, seed=8)[0]
        scorer = model.scorer()
        np.testing.assert_array_equal(scorer.score_rows(rows), model.score_rows(rows))
        self.assertTrue(scorer.info().scores_only)
        self.assertLess(scorer.info().memory_bytes, model.info().memory_bytes)
        with self.assertRaises(AdapVAEError) as caught:
            scorer.partial_fit(rows)
        self.assertEqual(caught.exception.status, "ADAPVAE_UNAVAILABLE")
        model.partial_fit(rows)
        scorer.update(model.to_bytes())
        np.testing.assert_array_equal(scorer.score_rows(rows), model.score_rows(rows))


class MissingValues(unittest.TestCase):
    def test_nan_is_filled(self):
        whole = kinds([0, 1, 2], 600)[0] * 50
        gaps = whole.copy()
        gaps[np.random.default_rng(1).random(gaps.shape) < 0.1] = np.nan
        gaps[:, 0] = whole[:, 0]  # no row without any value
        model = AdapVAE(**SMALL).fit(gaps)
        self.assertTrue(model.config()["missing_values"])
        expected = AdapVAE(**SMALL).fit(whole)
        self.assertEqual(model.n_clusters_, expected.n_clusters_)
        self.assertGreater(np.mean(model.predict(gaps) == model.predict(whole)), 0.95)
        self.assertTrue(np.isfinite(model.score_samples(gaps)).all())
        self.assertTrue(np.isfinite(model.reconstruct(gaps)).all())
        online = AdapVAE(**SMALL)
        for row in gaps[:200]:
            online.learn_one(row)
        self.assertEqual(online.predict_one(gaps[0]), online.predict_one(whole[0]))

    def test_where_it_is_refused(self):
        rows = kinds([0], 20)[0]
        rows[13, 2] = np.nan
        model = AdapVAE(**SMALL, missing_values=False)
        with self.assertRaises(AdapVAEError) as caught:
            model.partial_fit(rows)
        self.assertEqual((caught.exception.status, caught.exception.index), ("ADAPVAE_NON_FINITE", 13))
        rows[13] = np.nan
        with self.assertRaisesRegex(AdapVAEError, "no value at all"):
            AdapVAE(**SMALL).partial_fit(rows)


class Refusals(unittest.TestCase):
    def test_bad_rows_change_nothing(self):
        model = learnt()
        bytes_ = model.to_bytes()
        rows = kinds([0], 20)[0]
        bad = rows.copy()
        bad[13, 2] = np.inf
        for call in (model.partial_fit, model.learn, model.push, model.predict, model.transform, model.reconstruct,
                     model.predict_proba):
            with self.assertRaises(AdapVAEError) as caught:
                call(bad)
            self.assertEqual((caught.exception.status, caught.exception.index), ("ADAPVAE_NON_FINITE", 13))
            for given in (rows[:, :7], rows[0], rows[None], [["a"] * 8], rows.astype(complex), None, {}):
                self.assertRaises((ValueError, TypeError), call, given)
        self.assertRaises(ValueError, model.learn, rows[:0])
        with self.assertRaises(AdapVAEError):
            model.predict(rows.astype(np.float64) * 1e300)
        self.assertEqual(model.to_bytes(), bytes_)

    def test_bad_configurations(self):
        rows = kinds([0], 20)[0]
        with self.assertRaisesRegex(TypeError, "hiden1"):
            AdapVAE(hiden1=3)
        with self.assertRaisesRegex(AdapVAEError, "hidden1"):
            AdapVAE().set_params(hiden1=3)
        for bad in ({"latent": 0}, {"latent": 2.5}, {"latent": "x"}, {"likelihood": "poisson"}, {"preset": "huge"},
                    {"seed": -1}, {"learning_rate": float("nan")}, {"inputs": 9}, {"preset": "edge"}):
            model = AdapVAE(**{**SMALL, **bad})
            with self.assertRaises(ValueError, msg=str(bad)):
                model.partial_fit(rows)
            self.assertFalse(model.__sklearn_is_fitted__())

    def test_bad_files(self):
        bytes_ = learnt().to_bytes()
        for bad in (b"", b"x" * 100, bytes_[:-1], bytes_[:200] + b"\xff" + bytes_[201:]):
            with self.assertRaises(AdapVAEError) as caught:
                AdapVAE.from_bytes(bad)
            self.assertEqual(caught.exception.status, "ADAPVAE_CORRUPT_DATA")
            self.assertRaises(AdapVAEError, adapvae.inspect, bad)
        self.assertRaises(FileNotFoundError, AdapVAE.load, "/nowhere/model")
        self.assertRaises(OSError, learnt().save, "/nowhere/model")

    def test_unknown_clusters(self):
        model = learnt()
        for call in (model.cluster, model.moments, model.forget, model.split, lambda id: model.label(id, "x"),
                     lambda id: model.merge(1, id), lambda id: model.sample(1, id=id)):
            with self.assertRaises(AdapVAEError) as caught:
                call(4000)
            self.assertEqual(caught.exception.status, "ADAPVAE_UNKNOWN_CLUSTER")
        self.assertEqual(model.resolve(4000), 0)
        self.assertRaises(ValueError, model.label, 1, "a\0b")
        self.assertRaises(ValueError, model.label, 1, "x" * 32)

    def test_closed(self):
        with learnt() as model:
            pass
        self.assertEqual(model.n_clusters_, 0)
        self.assertRaises(AdapVAEError, model.info)


class Keeping(unittest.TestCase):
    def test_save_load_pickle_copy(self):
        model, more = learnt(), kinds([0, 1, 2, 3], 200, seed=9)[0]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            model.save(path)
            copies = [AdapVAE.load(path), AdapVAE.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model)),
                      copy.deepcopy(model)]
        self.assertEqual(copies[2].get_params(), model.get_params())
        self.assertEqual(copies[0].latent, 3)
        model.partial_fit(more)
        for each in copies:
            each.partial_fit(more)
            self.assertEqual(each.to_bytes(), model.to_bytes())
        self.assertEqual(pickle.loads(pickle.dumps(AdapVAE(seed=4, events=7))).get_params(),
                         AdapVAE(seed=4, events=7).get_params())

    def test_a_file_gets_no_more_memory_than_allowed(self):
        bytes_ = learnt().to_bytes()
        self.assertEqual(AdapVAE.from_bytes(bytes_, max_memory=1 << 29).to_bytes(), bytes_)
        with self.assertRaisesRegex(AdapVAEError, "max_memory_bytes"):
            AdapVAE.from_bytes(bytes_, max_memory=1000)

    def test_what_is_in_a_file(self):
        model = learnt()
        told = adapvae.inspect(model.to_bytes())
        self.assertEqual((told.rows, told.streams, told.clusters), (200, 1, model.n_clusters_))
        self.assertEqual(told.version, adapvae.__version__)
        self.assertEqual(told.config, model.config())

    def test_corrections(self):
        model = learnt()
        before = model.to_bytes()
        a, b = model.cluster_ids_[:2].tolist()
        model.label(a, "größer")
        self.assertEqual(model.cluster(a).name, "größer")
        with self.assertRaises(AdapVAEError) as caught:
            model.merge(a, b)
        self.assertEqual(caught.exception.status, "ADAPVAE_REFUSED")
        gain = model.merge(a, b, force=True)
        self.assertLess(gain, 0)
        self.assertEqual(model.resolve(b), a)
        part, _ = model.split(a, force=True)
        self.assertEqual(model.cluster(part).parent, a)
        model.forget(part)
        self.assertEqual(model.resolve(part), 0)
        self.assertEqual([event.type for event in model.events()][-4:], ["labelled", "merged", "split", "forgotten"])
        for _ in range(4):
            model.undo()
        self.assertEqual([cluster.name for cluster in model.clusters()], [""] * model.n_clusters_)
        # All but the number of events is as it was.
        loaded = AdapVAE.from_bytes(before)
        np.testing.assert_array_equal(model.score_rows(kinds([0, 1], 50)[0]), loaded.score_rows(kinds([0, 1], 50)[0]))

    def test_events(self):
        model = learnt()
        events = model.events()
        self.assertEqual(events[-1].type, "learnt")
        self.assertEqual([event.sequence for event in events], list(range(1, len(events) + 1)))
        self.assertTrue(all(event.text for event in events))
        self.assertEqual(model.events(after=events[-1].sequence), [])
        model.partial_fit(kinds([0], 50)[0])
        self.assertEqual(model.events(after=events[-1].sequence)[0].stream, 2)
        json.dumps([dataclasses.asdict(event) for event in events])

    def test_settings(self):
        model, rows = learnt(), kinds([0, 1, 2, 4], 200, seed=2)[0]
        before = model.novelty(rows)
        model.set_params(sensitivity=5.0)
        self.assertGreater(model.novelty(rows).mean(), before.mean())
        self.assertEqual(model.config()["sensitivity"], 5.0)
        with self.assertRaises(ValueError):
            model.set_params(false_alarm_rate=0.02, sensitivity=-1)
        self.assertEqual(model.config()["false_alarm_rate"], 0.01)
        self.assertEqual(model.sensitivity, 5.0)
        model.set_params(latent=2)  # from the next fit on
        self.assertEqual(model.transform(rows).shape[1], 3)
        self.assertEqual(model.fit(rows).transform(rows).shape[1], 2)
        model.reset()
        self.assertEqual(model.n_clusters_, 0)

    def test_every_field_is_a_parameter(self):
        names = {field.name for field in adapvae.fields()}
        self.assertEqual(set(AdapVAE().get_params()), names | {"preset", "verbose"})
        self.assertEqual(set(adapvae.presets()), {"desktop", "paper", "browser", "edge"})
        model = AdapVAE(**{**SMALL, "inputs": 8, "likelihood": "bernoulli"})
        needed = model.memory_required()
        self.assertEqual(model.partial_fit(kinds([0], 100)[0]).info().memory_bytes, needed)
        # What a model has, given again, makes the same model.
        again = AdapVAE(**model.config()).partial_fit(kinds([0], 100)[0])
        self.assertEqual(again.to_bytes(), model.to_bytes())

    def test_memory_is_given_back(self):
        rows = kinds([0, 1], 100)[0]

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def once():
            AdapVAE(**{**SMALL, "hidden1": 2000, "pretrain_epochs": 0, "joint_epochs": 0}).partial_fit(rows)
            gc.collect()

        once()
        start = resident()
        for _ in range(20):
            once()
        self.assertLess(resident() - start, 8 << 20)

    def test_metrics(self):
        metrics = adapvae.evaluate(["a", "a", "b", "b"], [1, 1, 2, 3])
        self.assertEqual((metrics.labels, metrics.clusters, metrics.purity), (2, 3, 1.0))
        self.assertRaises(ValueError, adapvae.evaluate, [1], [1, 2])


class Pictures(unittest.TestCase):
    def test_they_are_drawn(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")
        model = learnt().partial_fit(kinds([0, 1, 2, 6], 200, seed=6)[0])
        self.assertEqual(len(model.plot_timeline().lines), len({*model.cluster_ids_}))
        self.assertEqual(len(model.plot_prototypes().lines), model.n_clusters_)
        self.assertEqual(len(model.plot_prototypes(shape=(2, 4)).images), 1)
        drawn = model.plot_latent(kinds([0, 1, 2], 90)[0])
        self.assertEqual(sum(len(dots.get_offsets()) for dots in drawn.collections), 90)
        self.assertEqual(matplotlib.pyplot.close("all"), None)

    def test_the_package_does_not_need_them(self):
        code = ("import sys; sys.modules['matplotlib'] = sys.modules['tqdm'] = sys.modules['sklearn'] = None; import adapvae;"
                "m = adapvae.AdapVAE(latent=2, hidden1=4, hidden2=0, pretrain_epochs=1, verbose=True);"
                "m.partial_fit([[0.1, 0.9], [0.2, 0.8]] * 20); print(m.n_clusters_ > 0)")
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(told.stdout.strip(), "True", told.stderr)


if __name__ == "__main__":
    unittest.main()
