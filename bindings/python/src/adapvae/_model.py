"""AdapVAE as an estimator: scikit-learn's names, River's names, and the library's own."""
import ctypes
import json
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._library import (ALIAS, EVENTS, FIELDS, NO_MORE, OK, OUT_OF_MEMORY, REASONS, RESULT, AdapVAEError, CCluster, CEvent,
                       CGains, CInfo, CMetrics, Config, COptions, CReport, CSnapshot, Field, demand, fail, lib)
from ._native import Native, address, float_rows
from ._records import Alias, Cluster, Event, Gains, Info, Metrics, Report, Snapshot

_RESULT = np.dtype(RESULT)
_SUITED_ROWS = 1000  # the first rows, from which the library chooses settings; as many as the program looks at
_FITTED_ROWS = 10000  # the most rows that fit() learns at once
_making = threading.Lock()  # two threads that bring the first rows at once get one model


class AdapVAE:
    """Clusters an unlabelled stream of rows while it learns their features, finds new kinds by itself, and forgets none
    although it stores no past row.

    Every parameter but the first two and `verbose` is a field of the library's configuration (``adapvae.fields()``,
    docs/configuration.md); None: what the preset says, or the default.

    Parameters
    ----------
    preset : "desktop", "paper", "browser" or "edge"
    seed : the same seed and rows give the same model, byte for byte
    inputs : numbers in a row; None: as many as the first rows have
    likelihood, scale_inputs : if neither these nor a preset are given, the library chooses them, and the size of the
        network, from the first rows (adapvae_config_for_rows). Rows that come one by one are taken as measurements
    missing_values : NaN stands for a missing value, which the model fills with what it expects there. None: on if the first
        rows have some. A row without any value is refused
    block_rows : if neither this nor a preset is given, fit() learns up to 10,000 rows at once
    verbose : show a progress bar while learning (tqdm, if it is there)

    Attributes
    ----------
    n_clusters_ : int
        Clusters that there are.
    cluster_ids_ : array
        Their ids, from the lowest: the columns of predict_proba(). Ids count from 1 and never change.
    labels_ : array
        Of the rows of fit().
    report_ : Report
        What the last learning came to.
    n_features_in_ : int
        Numbers in a row.
    feature_names_in_ : array
        Names of the columns, if the first rows had any.

    Examples
    --------
    >>> import numpy as np
    >>> from adapvae import AdapVAE
    >>> rows = np.random.default_rng(1).random((500, 8), dtype="float32")
    >>> model = AdapVAE(hidden1=16, hidden2=0, latent=3, pretrain_epochs=2).partial_fit(rows)
    >>> model.predict(rows).shape
    (500,)
    """

    # The parameter `events` has no attribute of its name, which is a method's; beside the dictionary, where scikit-learn
    # looks for parameters alone.
    __slots__ = ("__dict__", "__weakref__", "_kept_events")

    _native: Optional[Native] = None
    _progress: Optional[Callable[[str, float], Any]] = None
    _estimator_type = "clusterer"

    def __init__(
        self,
        preset: Optional[str] = None,
        seed: Optional[int] = None,
        *,
        inputs: Optional[int] = None,
        latent: Optional[int] = None,
        hidden1: Optional[int] = None,
        hidden2: Optional[int] = None,
        hidden3: Optional[int] = None,
        hidden4: Optional[int] = None,
        scale_inputs: Optional[str] = None,
        missing_values: Optional[bool] = None,
        likelihood: Optional[str] = None,
        likelihood_variance: Optional[float] = None,
        activation: Optional[str] = None,
        initialisation: Optional[str] = None,
        covariance: Optional[str] = None,
        max_clusters: Optional[int] = None,
        block_rows: Optional[int] = None,
        pass_rows: Optional[int] = None,
        replay_rows: Optional[int] = None,
        pending_rows: Optional[int] = None,
        aliases: Optional[int] = None,
        undo_steps: Optional[int] = None,
        events: Optional[int] = None,
        restore_on_failure: Optional[bool] = None,
        batch: Optional[int] = None,
        pretrain_epochs: Optional[int] = None,
        adapt_epochs: Optional[int] = None,
        joint_epochs: Optional[int] = None,
        sweeps: Optional[int] = None,
        freeze_encoder_after: Optional[int] = None,
        neighbour_epochs: Optional[int] = None,
        neighbour_weight: Optional[float] = None,
        learning_rate: Optional[float] = None,
        prior_weight: Optional[float] = None,
        pretrain_mask_probability: Optional[float] = None,
        pretrain_noise: Optional[float] = None,
        joint_mask_probability: Optional[float] = None,
        joint_noise: Optional[float] = None,
        image_width: Optional[int] = None,
        image_height: Optional[int] = None,
        image_channels: Optional[int] = None,
        augment: Optional[bool] = None,
        augment_shift: Optional[float] = None,
        augment_rotation: Optional[float] = None,
        augment_scale: Optional[float] = None,
        augment_shear: Optional[float] = None,
        replay_ratio: Optional[float] = None,
        replay_balance: Optional[float] = None,
        replay_radius: Optional[float] = None,
        replay_filter: Optional[bool] = None,
        drift: Optional[str] = None,
        distillation: Optional[float] = None,
        replay_in_fit: Optional[str] = None,
        prior_mode: Optional[str] = None,
        learn_concentration: Optional[bool] = None,
        prior_scale: Optional[float] = None,
        prior_beta: Optional[float] = None,
        prior_strength: Optional[float] = None,
        concentration: Optional[float] = None,
        row_weight: Optional[float] = None,
        effective_rows: Optional[float] = None,
        effective_part: Optional[float] = None,
        laps: Optional[int] = None,
        rounds: Optional[int] = None,
        divisions: Optional[bool] = None,
        merge_old_with_new: Optional[bool] = None,
        unexplained_births: Optional[bool] = None,
        birth_novelty: Optional[float] = None,
        hysteresis_streams: Optional[int] = None,
        hysteresis_growth: Optional[float] = None,
        pending_part: Optional[float] = None,
        pending_streams: Optional[int] = None,
        kinds: Optional[bool] = None,
        kind_resolution: Optional[float] = None,
        half_life_rows: Optional[float] = None,
        half_life_time: Optional[float] = None,
        false_alarm_rate: Optional[float] = None,
        sensitivity: Optional[float] = None,
        novelty_error_weight: Optional[float] = None,
        verbose: bool = False,
    ):
        self.preset = preset
        self.seed = seed
        self.inputs = inputs
        self.latent = latent
        self.hidden1 = hidden1
        self.hidden2 = hidden2
        self.hidden3 = hidden3
        self.hidden4 = hidden4
        self.scale_inputs = scale_inputs
        self.missing_values = missing_values
        self.likelihood = likelihood
        self.likelihood_variance = likelihood_variance
        self.activation = activation
        self.initialisation = initialisation
        self.covariance = covariance
        self.max_clusters = max_clusters
        self.block_rows = block_rows
        self.pass_rows = pass_rows
        self.replay_rows = replay_rows
        self.pending_rows = pending_rows
        self.aliases = aliases
        self.undo_steps = undo_steps
        self._kept_events = events
        self.restore_on_failure = restore_on_failure
        self.batch = batch
        self.pretrain_epochs = pretrain_epochs
        self.adapt_epochs = adapt_epochs
        self.joint_epochs = joint_epochs
        self.sweeps = sweeps
        self.freeze_encoder_after = freeze_encoder_after
        self.neighbour_epochs = neighbour_epochs
        self.neighbour_weight = neighbour_weight
        self.learning_rate = learning_rate
        self.prior_weight = prior_weight
        self.pretrain_mask_probability = pretrain_mask_probability
        self.pretrain_noise = pretrain_noise
        self.joint_mask_probability = joint_mask_probability
        self.joint_noise = joint_noise
        self.image_width = image_width
        self.image_height = image_height
        self.image_channels = image_channels
        self.augment = augment
        self.augment_shift = augment_shift
        self.augment_rotation = augment_rotation
        self.augment_scale = augment_scale
        self.augment_shear = augment_shear
        self.replay_ratio = replay_ratio
        self.replay_balance = replay_balance
        self.replay_radius = replay_radius
        self.replay_filter = replay_filter
        self.drift = drift
        self.distillation = distillation
        self.replay_in_fit = replay_in_fit
        self.prior_mode = prior_mode
        self.learn_concentration = learn_concentration
        self.prior_scale = prior_scale
        self.prior_beta = prior_beta
        self.prior_strength = prior_strength
        self.concentration = concentration
        self.row_weight = row_weight
        self.effective_rows = effective_rows
        self.effective_part = effective_part
        self.laps = laps
        self.rounds = rounds
        self.divisions = divisions
        self.merge_old_with_new = merge_old_with_new
        self.unexplained_births = unexplained_births
        self.birth_novelty = birth_novelty
        self.hysteresis_streams = hysteresis_streams
        self.hysteresis_growth = hysteresis_growth
        self.pending_part = pending_part
        self.pending_streams = pending_streams
        self.kinds = kinds
        self.kind_resolution = kind_resolution
        self.half_life_rows = half_life_rows
        self.half_life_time = half_life_time
        self.false_alarm_rate = false_alarm_rate
        self.sensitivity = sensitivity
        self.novelty_error_weight = novelty_error_weight
        self.verbose = verbose

    # ---- parameters --------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """Parameters as they were given; what a model really has: config()."""
        return {name: getattr(self, attribute) for name, attribute in PARAMETERS.items()}

    def set_params(self, **params: Any) -> "AdapVAE":
        """Live fields change at once, between streams; the others count from the next fit() on."""
        for name in params:
            if name not in PARAMETERS:
                Config().set(name, 0)  # says which it is most like
        native = self._native
        live = {name: value for name, value in params.items()
                if native is not None and value is not None and name in FIELDS and FIELDS[name].live}
        config = Config()
        for name, value in live.items():  # all of them are good, or nothing is changed
            config.set(name, value)
        for name, value in live.items():
            native.call(lib.adapvae_set, name.encode(), FIELDS[name].text(value))  # type: ignore[union-attr]
        for name, value in params.items():
            setattr(self, PARAMETERS[name], value)
        return self

    def config(self) -> Dict[str, Any]:
        """Every field of the configuration as the model has it."""
        return self._learnt().config().values()

    def set_sensitivity(self, sensitivity: float) -> None:
        """Above 1 more is called novel, below 1 less."""
        self.set_params(sensitivity=sensitivity)

    def memory_required(self) -> int:
        """Bytes that the library will take, exactly."""
        size = ctypes.c_size_t()
        demand(lib.adapvae_memory_required, self._config(None).buffer, None, ctypes.byref(size))
        return size.value

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items()
                          if value is not None and value is not False)
        return f"AdapVAE({given})"

    def _config(self, rows: Optional[np.ndarray], block_rows: int = 0) -> Config:
        config = Config(self.preset)
        if self.preset is None and rows is not None:
            config.set("inputs", rows.shape[1])
            if self.likelihood is None and self.scale_inputs is None:
                for name in ("image_width", "image_height", "image_channels"):
                    if getattr(self, name) is not None:
                        config.set(name, getattr(self, name))
                config.suit(rows[:_SUITED_ROWS], rows.shape[1])
            if block_rows > config.get("block_rows"):
                config.set("block_rows", block_rows)
        for name in FIELDS:
            value = getattr(self, PARAMETERS[name])
            if value is not None:
                config.set(name, value)
        return config

    # ---- the model ---------------------------------------------------------------------------------------------------

    def _made(self, rows: np.ndarray, block_rows: int = 0) -> Native:
        """A new model for such rows."""
        config = self._config(rows, block_rows)
        inputs = config.get("inputs")
        if inputs != rows.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} features, but AdapVAE is expecting {inputs} features as input")
        return Native(lib.adapvae_create, config.buffer, None)

    def _learnt(self) -> Native:
        if self._native is None:
            raise AdapVAEError("there is no model yet: give it rows, or load one", "ADAPVAE_UNAVAILABLE")
        return self._native

    def _looking(self, X: Any) -> Tuple[Native, np.ndarray]:
        """The model and rows for it; before the first rows are learnt a model that knows nothing."""
        native = self._native
        if native is None:
            rows = float_rows(X)
            return self._made(rows), rows
        if hasattr(X, "columns"):
            self._check_names(X)
        return native, float_rows(X, native.inputs)

    def _learning(self, X: Any, one: bool = False) -> Tuple[Native, np.ndarray]:
        """The same for rows to learn: the first make the model. one: a single row says nothing of the others."""
        if self._native is None:
            rows = float_rows(X)
            if len(rows) == 0:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            with _making:
                if self._native is None:
                    self._native = self._made(rows[:0] if one else rows)
                    self._keep_names(X)
        return self._looking(X)

    def _keep_names(self, X: Any) -> None:
        self.__dict__.pop("feature_names_in_", None)
        names = getattr(X, "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _check_names(self, X: Any) -> None:
        known = list(getattr(self, "feature_names_in_", []))
        names = list(X.columns)
        if not known or known == names or not all(isinstance(name, str) for name in names):
            return
        message = "The feature names should match those that were passed during fit.\n"
        new, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
        if new:
            message += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in new)
        if missing:
            message += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {name}\n" for name in missing)
        if not new and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)

    def close(self) -> None:
        """Gives the memory back now, not when Python sees fit. The model is then as it was before its first rows."""
        native, self._native = self._native, None
        if native is not None:
            native.close()

    def __enter__(self) -> "AdapVAE":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> "AdapVAE":
        """Learns rows anew, in streams of at most block_rows; y is not looked at. More streams: partial_fit()."""
        rows = float_rows(X)
        if len(rows) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        native = self._made(rows, min(len(rows), _FITTED_ROWS))
        report = self._taught(native, lib.adapvae_push, rows)
        self._native, self.report_ = native, report
        self._keep_names(X)
        self.labels_ = self.predict(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> "AdapVAE":
        """Learns more rows now: a stream, or several if there are more than block_rows. The first stream teaches the
        network its features: it should be a full one."""
        native, rows = self._learning(X)
        self.report_ = self._taught(native, lib.adapvae_push, rows)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        return self.fit(X).labels_

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        return self.fit(X).transform(X)

    def learn(self, X: Any) -> Report:
        """One stream, of 1 to block_rows rows."""
        native, rows = self._learning(X)
        self.report_ = self._taught(native, lib.adapvae_learn, rows, flush=False)
        return self.report_

    def push(self, X: Any) -> Report:
        """Any number of rows: they wait in the model until there are block_rows of them, which are then learnt."""
        native, rows = self._learning(X)
        self.report_ = self._taught(native, lib.adapvae_push, rows, flush=False)
        return self.report_

    def flush(self) -> Report:
        """Learns the rows that wait, however few."""
        self.report_ = self._taught(self._learnt(), None, None)
        return self.report_

    def pretrain(self, X: Any) -> "AdapVAE":
        """Teaches the network its features from rows given apart, once, before anything else. May change."""
        native, rows = self._learning(X)
        native.on_rows(lib.adapvae_pretrain, rows)
        return self

    def _taught(self, native: Native, function: Any, rows: Optional[np.ndarray], flush: bool = True) -> Report:
        report, rest = CReport(), CReport()

        def call() -> None:
            if function is not None:
                native.on_rows(function, rows, ctypes.byref(report))
            if flush:
                native.call(lib.adapvae_flush, ctypes.byref(rest))

        bar = _Bar() if self.verbose else None
        progress = self._progress

        def tell(stage: str, fraction: float) -> Any:
            if bar is not None:
                bar.tell(stage, fraction)
            return progress(stage, fraction) if progress is not None else None

        try:
            native.learning(tell, call)
        finally:
            if bar is not None:
                bar.close()
        last = rest if rest.streams > 0 else report
        return Report.of(last, streams=report.streams + rest.streams)

    def set_progress(self, progress: Optional[Callable[[str, float], Any]]) -> None:
        """progress(stage, fraction), often, while a stream is learnt; False from it ends the stream early."""
        self._progress = progress

    def stop(self) -> None:
        """From any thread: the stream that is being learnt ends early."""
        native = self._native
        if native is not None and native.handle is not None:
            lib.adapvae_stop(native.handle)

    def set_budget(self, seconds_per_stream: float) -> None:
        """Seconds that a stream may take; 0: as long as it takes."""
        self._learnt().call(lib.adapvae_set_budget, seconds_per_stream)

    def set_time(self, time: float) -> None:
        """Time of the rows to come, for half_life_time."""
        self._learnt().call(lib.adapvae_set_time, time)

    def reset(self) -> None:
        """Nothing is learnt any more; live settings stay."""
        self._learnt().call(lib.adapvae_reset)

    # ---- one model, many machines ------------------------------------------------------------------------------------

    def gain(self, X: Any, worker: int = 0, sequence: int = 0) -> bytes:
        """What rows, any number of them, would add to this model, the base, which stays as it is: a set of one gain,
        for merge_gains() and apply_gains(). A pair of worker and sequence counts once."""
        if not all(0 <= number < 2**64 for number in (worker, sequence)):
            raise ValueError("worker and sequence are whole numbers from 0 to 2**64 - 1")
        native = self._learnt()
        rows = self._looking(X)[1]
        size, key = ctypes.c_size_t(), (ctypes.c_uint64 * 2)(worker, sequence)
        with native.lock:
            native.call(lib.adapvae_gain, None, 0, 0, None, None, 0, ctypes.byref(size))
            bytes_ = ctypes.create_string_buffer(size.value)
            native.on_rows(lib.adapvae_gain, rows, key, bytes_, size, ctypes.byref(size))
        return bytes_.raw[:size.value]

    def apply_gains(self, gains: Union[bytes, Iterable[bytes]]) -> List[Alias]:
        """Adds gains of this model, of any number of workers, as one stream: all of them, or, if one is refused, none.
        The answer tells what became of the clusters that were born at workers."""
        native = self._learnt()
        set_ = gains if isinstance(gains, bytes) else merge_gains(gains)
        report, aliases = CReport(), np.zeros(inspect_gains(set_).born, np.dtype(ALIAS))
        native.call(lib.adapvae_apply_gains, set_, len(set_), address(aliases), len(aliases), ctypes.byref(report))
        self.report_ = Report.of(report)
        return [Alias(*map(int, alias)) for alias in aliases]

    # ---- one row at a time, with River's names -----------------------------------------------------------------------

    def learn_one(self, x: Union[Mapping[Any, float], Iterable[float]], y: Any = None) -> "AdapVAE":
        """A row as a mapping from names to numbers, or as numbers. It waits until block_rows have come; the rest:
        flush()."""
        native, row = self._learning(self._row(x), one=True)
        if isinstance(x, Mapping) and not hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.asarray(list(x), dtype=object)
        report = self._taught(native, lib.adapvae_push, row, flush=False)
        if report.streams > 0:
            self.report_ = report
        return self

    def predict_one(self, x: Union[Mapping[Any, float], Iterable[float]]) -> int:
        """Id of its cluster; 0: nothing is learnt yet."""
        return int(self.score_rows(self._row(x))["id"][0])

    def score_one(self, x: Union[Mapping[Any, float], Iterable[float]]) -> float:
        """Its novelty, in [0, 1]; it is novel if above 0.5."""
        return float(self.score_rows(self._row(x))["novelty"][0])

    def _row(self, x: Any) -> np.ndarray:
        if isinstance(x, Mapping):
            names = getattr(self, "feature_names_in_", None)
            if names is not None and (len(names) != len(x) or any(name not in x for name in names)):
                raise ValueError(f"the row has {sorted(map(str, x))}, the rows before had {sorted(map(str, names))}")
            x = [x[name] for name in (x if names is None else names)]
        return np.asarray(x if hasattr(x, "__len__") else list(x), dtype=np.float32).reshape(1, -1)

    # ---- rows, without learning --------------------------------------------------------------------------------------

    def score_rows(self, X: Any) -> np.ndarray:
        """All that is known of each row, as a record array: id, component, probability, novelty, log_density, flags."""
        native, rows = self._looking(X)
        out = np.empty(len(rows), _RESULT)
        native.on_rows(lib.adapvae_score, rows, address(out))
        return out

    def predict(self, X: Any) -> np.ndarray:
        """Id of each row's most probable cluster; it never changes. 0: nothing is learnt yet."""
        return self.score_rows(X)["id"].astype(np.int64)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every cluster; columns as in cluster_ids_."""
        native, rows = self._looking(X)
        with native.lock:
            ids = [cluster.id for cluster in self._clusters(native)]
            out = np.empty((len(rows), max(len(ids), 1)), np.float32)
            native.on_rows(lib.adapvae_probabilities, rows, address(out))
        return out[:, np.argsort(ids).astype(int)]

    def novelty(self, X: Any) -> np.ndarray:
        """In [0, 1]; a row is novel if above 0.5. 1 before anything is learnt.

        Judged by cluster: a row is known if it is typical of some cluster, however rare that is. To rank rows of a table
        that has anomalies in its training rows, use score_samples().
        """
        return self.score_rows(X)["novelty"].copy()

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of each row: higher is more ordinary.

        Of its features, less what its reconstruction and the values of its columns cost more than usual. Rows of rare
        clusters are low: the ranking for anomaly detection.
        """
        return self.score_rows(X)["log_density"].astype(np.float64)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of score_samples()."""
        return float(self.score_samples(X).mean())

    def decision_function(self, X: Any) -> np.ndarray:
        """0.5 less novelty: negative for novel rows."""
        return 0.5 - self.score_rows(X)["novelty"].astype(np.float64)

    def transform(self, X: Any) -> np.ndarray:
        """Features."""
        return self.encode(X)[0]

    def encode(self, X: Any) -> Tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the features."""
        self._learnt()
        native, rows = self._looking(X)
        mean, variance = (np.empty((len(rows), native.latent), np.float32) for _ in range(2))
        native.on_rows(lib.adapvae_encode, rows, address(mean), address(variance))
        return mean, variance

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows that the network makes of features."""
        native = self._learnt()
        features = float_rows(X)
        if features.shape[1] != native.latent:
            raise ValueError(f"X has {features.shape[1]} features, but the network has {native.latent}")
        return self._rows_of(native, lib.adapvae_decode, features)

    def reconstruct(self, X: Any) -> np.ndarray:
        """inverse_transform() of transform()."""
        self._learnt()
        native, rows = self._looking(X)
        return self._rows_of(native, lib.adapvae_reconstruct, rows)

    @staticmethod
    def _rows_of(native: Native, function: Any, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), native.inputs), np.float32)
        native.on_rows(function, rows, address(out))
        return out

    def sample(self, n_samples: int = 1, *, id: int = 0, seed: int = 0) -> Tuple[np.ndarray, np.ndarray]:
        """Rows made up, and their clusters; of one cluster, or of all by their weight. Row i of a seed is always the
        same."""
        native = self._learnt()
        rows, ids = np.empty((n_samples, native.inputs), np.float32), np.empty(n_samples, np.uint32)
        native.call(lib.adapvae_generate, id, seed, n_samples, address(rows), None, address(ids))
        return rows, ids.astype(np.int64)

    def interpolate(self, start: int, end: int, count: int) -> np.ndarray:
        """Rows from one cluster's mean to another's, both included; the same id twice: its prototype."""
        native = self._learnt()
        rows = np.empty((count, native.inputs), np.float32)
        native.call(lib.adapvae_interpolate, start, end, count, address(rows), None)
        return rows

    def explain(self, row: Any, format: str = "text") -> Any:
        """Why a row is as novel as it is: lines of English, or ("json") a dictionary."""
        if format not in ("text", "json"):
            raise ValueError("format is text or json")
        row = np.asarray(row)
        native, rows = self._looking(row.reshape(1, -1) if row.ndim == 1 else row)
        if len(rows) != 1:
            raise ValueError("explain takes one row")
        text = _text(lambda *out: lib.adapvae_explain(native.handle, address(rows), int(format == "json"), *out), native)
        return json.loads(text) if format == "json" else text

    # ---- clusters, events, corrections -------------------------------------------------------------------------------

    @property
    def n_clusters_(self) -> int:
        return len(self.clusters())

    @property
    def cluster_ids_(self) -> np.ndarray:
        return np.array([cluster.id for cluster in self.clusters()], np.int64)

    @property
    def n_features_in_(self) -> int:
        if self._native is None:
            raise AttributeError("n_features_in_: no rows have come yet")
        return self._native.inputs

    def __sklearn_is_fitted__(self) -> bool:
        return self._native is not None

    def info(self) -> Info:
        info = CInfo()
        self._learnt().call(lib.adapvae_get_info, ctypes.byref(info))
        return Info.of(info)

    def clusters(self) -> List[Cluster]:
        """From the lowest id."""
        native = self._native
        return [] if native is None else sorted(self._clusters(native), key=lambda cluster: cluster.id)

    @staticmethod
    def _clusters(native: Native) -> List[Cluster]:
        """In the library's order."""
        cluster, out = CCluster(), []
        with native.lock:
            while lib.adapvae_cluster_at(native.handle, len(out), ctypes.byref(cluster)) == OK:
                out.append(Cluster.of(cluster))
        return out

    def cluster(self, id: int) -> Cluster:
        """The one that holds what `id` held."""
        cluster = CCluster()
        self._learnt().call(lib.adapvae_cluster_of, id, ctypes.byref(cluster))
        return Cluster.of(cluster)

    def resolve(self, id: int) -> int:
        """Id of the cluster that holds what `id` held; 0: there is none."""
        native = self._learnt()
        with native.lock:
            return lib.adapvae_resolve(native.handle, id)

    def moments(self, id: int) -> Tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of a cluster's features."""
        native = self._learnt()
        mean, covariance = np.empty(native.latent), np.empty((native.latent, native.latent))
        native.call(lib.adapvae_moments, id, address(mean), address(covariance))
        return mean, covariance

    def label(self, id: int, name: str) -> None:
        """At most 31 bytes of UTF-8; "" takes a name away."""
        if "\0" in name:
            raise ValueError("a name has no zero byte")
        self._learnt().call(lib.adapvae_label, id, name.encode())

    def merge(self, id: int, other: int, *, force: bool = False) -> float:
        """`other` goes into `id`; gives the change of the evidence bound."""
        gain = ctypes.c_double()
        self._learnt().call(lib.adapvae_merge, id, other, int(force), ctypes.byref(gain))
        return gain.value

    def split(self, id: int, *, force: bool = False) -> Tuple[int, float]:
        """In two; gives the new one's id and the change of the evidence bound."""
        part, gain = ctypes.c_uint32(), ctypes.c_double()
        self._learnt().call(lib.adapvae_split, id, int(force), ctypes.byref(part), ctypes.byref(gain))
        return part.value, gain.value

    def forget(self, id: int) -> None:
        """All that it holds is gone."""
        self._learnt().call(lib.adapvae_forget, id)

    def undo(self) -> None:
        """The last correction never happened."""
        self._learnt().call(lib.adapvae_undo)

    def events(self, after: int = 0) -> List[Event]:
        """Those after event number `after` that are still kept; the last one's `sequence` is where to go on."""
        native = self._native
        if native is None:
            return []
        event, out = CEvent(), []
        event.sequence = after
        with native.lock:
            while True:
                status = lib.adapvae_next_event(native.handle, ctypes.byref(event))
                if status == NO_MORE:
                    return out
                native.call(lambda _handle: status)
                text = _text(lambda *to: lib.adapvae_event_text(ctypes.byref(event), 0, *to), native)
                out.append(Event.of(event, type=EVENTS[event.type], reason=REASONS[event.reason], text=text))

    # ---- files -------------------------------------------------------------------------------------------------------

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """The same file as the C library, the program and every binding write; whole, or not at all."""
        bytes_ = self.to_bytes()
        path = os.path.abspath(path)
        part = f"{path}.{os.getpid()}.part"
        try:
            with open(part, "wb") as file:
                file.write(bytes_)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except BaseException:
            if os.path.exists(part):
                os.remove(part)
            raise

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"], max_memory: Optional[int] = None) -> "AdapVAE":
        """Loads a model from a file. It continues, byte for byte, as the saved model would.

        max_memory: the most bytes that the model may take. Default 1 GiB: a small file can ask for a large model.
        """
        with open(path, "rb") as file:
            return cls.from_bytes(file.read(), max_memory)

    def to_bytes(self) -> bytes:
        return self._learnt().to_bytes()

    @classmethod
    def from_bytes(cls, bytes_: bytes, max_memory: Optional[int] = None) -> "AdapVAE":
        """A model of what to_bytes() gave. max_memory: see load()."""
        options = COptions()
        options.max_memory_bytes = max_memory or 0
        return cls._around(Native(lib.adapvae_create_from, bytes_, len(bytes_), ctypes.byref(options)))

    def update(self, bytes_: bytes) -> None:
        """Takes over what to_bytes() of a model with the same configuration gave: how a scorer is brought up to date."""
        self._learnt().call(lib.adapvae_load, bytes_, len(bytes_))

    def scorer(self) -> "AdapVAE":
        """A copy of what is known now, for another thread, in a fraction of the memory; it does not learn."""
        native = self._learnt()
        with native.lock:
            return self._around(Native(lib.adapvae_create_scorer, native.handle, None))

    @classmethod
    def _around(cls, native: Native) -> "AdapVAE":
        made = cls(**native.config().values())
        made._native = native
        return made

    def __getstate__(self) -> Dict[str, Any]:
        state = {**self.__dict__, "_kept_events": self._kept_events}
        state.pop("_progress", None)
        native = state.pop("_native", None)
        if native is not None:
            state["snapshot"] = native.to_bytes()
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        state = dict(state)
        bytes_ = state.pop("snapshot", None)
        for name, value in state.items():
            setattr(self, name, value)
        if bytes_ is not None:
            options = COptions()
            options.max_memory_bytes = sys.maxsize  # a pickle is trusted anyway
            self._native = Native(lib.adapvae_create_from, bytes_, len(bytes_), ctypes.byref(options))

    # ---- pictures (matplotlib) ---------------------------------------------------------------------------------------

    def plot_timeline(self, ax: Any = None) -> Any:
        """When clusters were born and merged, by the events that are kept."""
        from . import _plot
        return _plot.timeline(self, ax)

    def plot_prototypes(self, shape: Optional[Tuple[int, int]] = None, ax: Any = None) -> Any:
        """What each cluster stands for: images of `shape`, or lines."""
        from . import _plot
        return _plot.prototypes(self, shape, ax)

    def plot_latent(self, X: Any, ax: Any = None) -> Any:
        """Rows on the two main axes of their features, coloured by cluster."""
        from . import _plot
        return _plot.latent(self, X, ax)

    # ---- for scikit-learn's own checks ---------------------------------------------------------------------------------

    def _more_tags(self) -> Dict[str, Any]:
        return {"preserves_dtype": [np.float32], "allow_nan": True, "_xfail_checks": {"check_clustering": "ids count from 1 and are not labels from 0 on"}}

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags
        return Tags(estimator_type="clusterer", target_tags=TargetTags(required=False), input_tags=InputTags(allow_nan=True))


# Attribute by parameter.
PARAMETERS = {name: "_kept_events" if name == "events" else name for name in ["preset", *FIELDS, "verbose"]}


class _Bar:
    """A tqdm bar a stream; without tqdm, nothing."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._make, self._bar = tqdm, None

    def tell(self, stage: str, fraction: float) -> None:
        if self._make is None:
            return
        if self._bar is None:
            self._bar = self._make(total=100, bar_format="{desc:9}{percentage:3.0f}% |{bar}| {elapsed}")
        self._bar.set_description_str(stage, refresh=False)
        self._bar.update(100 * fraction - self._bar.n)
        if fraction >= 1:
            self.close()

    def close(self) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.close()


def _text(ask: Callable[..., int], native: Native) -> str:
    """ask(text, capacity, needed) of the library, with as much room as it needs."""
    with native.lock:
        needed = ctypes.c_size_t(1024)
        while True:
            text = ctypes.create_string_buffer(needed.value)
            status = ask(text, len(text), ctypes.byref(needed))
            if status != OUT_OF_MEMORY:
                native.call(lambda _handle: status)
                return text.value.decode()


def fields() -> List[Field]:
    """Every field of the configuration: name, bounds, default, what it is."""
    return list(FIELDS.values())


def presets() -> List[str]:
    out: List[str] = []
    while True:
        name = lib.adapvae_preset_name(len(out))
        if name is None:
            return out
        out.append(name.decode())


def version() -> str:
    return lib.adapvae_version_string().decode()


def instruction_set() -> str:
    """What the processor's best kernels are: avx2, neon, …; ADAPVAE_ISA in the environment forces another."""
    return lib.adapvae_instruction_set().decode()


def inspect(file: Union[str, "os.PathLike[str]", bytes]) -> Snapshot:
    """What is in a file, or in the bytes of one, without making a model of it."""
    if not isinstance(file, bytes):
        with open(file, "rb") as opened:
            file = opened.read()
    snapshot, config = CSnapshot(), Config()
    demand(lib.adapvae_inspect, file, len(file), ctypes.byref(snapshot), config.buffer)
    return Snapshot.of(snapshot, config=config.values())


def inspect_gains(gains: bytes) -> Gains:
    """What is in a set of gains."""
    found = CGains()
    demand(lib.adapvae_inspect_gains, gains, len(gains), ctypes.byref(found))
    return Gains.of(found)


def merge_gains(sets: Iterable[bytes]) -> bytes:
    """All gains of these sets, each once: the same bytes whatever the order."""
    left = list(sets)
    if not left:
        raise ValueError("there are no gains: give at least one set")
    if len(left) == 1:
        inspect_gains(left[0])
    while len(left) > 1:  # by pairs: every gain is copied few times
        pairs = [_union(*left[i:i + 2]) for i in range(0, len(left) - 1, 2)]
        left = pairs + left[2 * len(pairs):]
    return left[0]


def _union(a: bytes, b: bytes) -> bytes:
    size = ctypes.c_size_t()
    demand(lib.adapvae_merge_gains, a, len(a), b, len(b), None, 0, ctypes.byref(size))
    bytes_ = ctypes.create_string_buffer(size.value)
    demand(lib.adapvae_merge_gains, a, len(a), b, len(b), bytes_, size, ctypes.byref(size))
    return bytes_.raw


def evaluate(labels: Any, ids: Any) -> Metrics:
    """Agreement of clusters with labels (whole numbers, or anything that can be told apart)."""
    labels, ids = np.asarray(labels).ravel(), np.asarray(ids).ravel()
    if labels.shape != ids.shape:
        raise ValueError(f"{len(labels)} labels, but {len(ids)} ids")
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    ids = np.ascontiguousarray(ids, np.uint32)
    metrics = CMetrics()
    demand(lib.adapvae_evaluate, address(labels), address(ids), len(ids), None, ctypes.byref(metrics))
    return Metrics.of(metrics)
