"""scikit-learn takes it as one of its own."""
import unittest

import numpy as np
from support import SMALL, kinds

try:
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    raise unittest.SkipTest("no scikit-learn") from None

import adapvae
from adapvae import AdapVAE


class ScikitLearn(unittest.TestCase):
    def test_its_checks(self):
        failed, passed, left_out = [], 0, []
        for estimator, check in check_estimator(AdapVAE(**SMALL), generate_only=True):
            name = check.func.__name__
            try:
                check(estimator)
                passed += 1
            except unittest.SkipTest as skipped:
                left_out.append(f"{name}: {skipped}")
            except Exception as error:
                failed.append(f"{name}: {type(error).__name__}: {error}")
        self.assertEqual(failed, [])
        self.assertGreater(passed, 30)
        self.assertLessEqual(len(left_out), 2, left_out)  # labels from 0 on, which ids are not

    def test_clone(self):
        model = AdapVAE(**SMALL, preset="edge", seed=4)
        self.assertEqual(clone(model).get_params(), model.get_params())
        self.assertFalse(clone(model.set_params(preset=None).fit(kinds([0], 50)[0])).__sklearn_is_fitted__())

    def test_pipeline(self):
        rows, labels = kinds([0, 1, 2], 300)
        rows = rows.astype(np.float64)
        pipeline = make_pipeline(MinMaxScaler(), AdapVAE(**SMALL))
        ids = pipeline.fit_predict(rows * 40.0 - 7)
        self.assertGreater(adapvae.evaluate(labels, ids).nmi, 0.6)
        np.testing.assert_array_equal(pipeline.predict(rows * 40.0 - 7), ids)
        self.assertEqual(pipeline[-1].config()["likelihood"], "gaussian")  # a table, although within [0, 1]
        self.assertEqual(make_pipeline(AdapVAE(**SMALL), MinMaxScaler()).fit_transform(rows).shape, (300, 3))


if __name__ == "__main__":
    unittest.main()
