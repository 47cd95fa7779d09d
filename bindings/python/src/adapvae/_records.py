"""What the library tells, as frozen dataclasses; the fields are those of adapvae.h."""
import dataclasses
from typing import Any, TypeVar

T = TypeVar("T", bound="Record")


class Record:
    @classmethod
    def of(cls: "type[T]", struct: Any, **more: Any) -> T:
        """From a struct of the library; `more` are fields that are not there, or differ."""
        values = {}
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            value = more[field.name] if field.name in more else getattr(struct, field.name)
            values[field.name] = value.decode() if isinstance(value, bytes) else field.type(value)
        return cls(**values)


@dataclasses.dataclass(frozen=True)
class Report(Record):
    """What learning came to; all but `streams` is of the last stream."""

    streams: int
    rows: int
    clusters: int
    components: int
    births: int
    merges: int
    retirements: int
    refusals: int
    replay_rows: int
    drifted: int
    stopped: bool
    bound: float
    loss: float
    log_likelihood: float
    mixture: float
    entropy: float
    distillation: float
    replay_accuracy: float
    largest_drift: float
    skipped_steps: int
    repairs: int


@dataclasses.dataclass(frozen=True)
class Info(Record):
    """A model at a glance."""

    clusters: int
    rows_waiting: int
    undo_steps: int
    streams: int
    rows: int
    ids_given: int
    events: int
    memory_bytes: int
    snapshot_bytes: int
    time: float
    backend: str
    scores_only: bool
    latent: int
    inputs: int
    block_rows: int
    components: int


@dataclasses.dataclass(frozen=True)
class Cluster(Record):
    """components: of the mixture that belong to it. parent: cluster out of which it was born; 0: none."""

    id: int
    components: int
    parent: int
    born_stream: int
    seen_stream: int
    rows: float
    weight: float
    birth_rows: float
    birth_gain: float
    provisional: bool
    name: str


@dataclasses.dataclass(frozen=True)
class Event(Record):
    """type: born, merged, retired, not_born, forgotten, split, noticed, labelled, undone, drifted, repaired, learnt,
    rescaled or warned. input: of reason range, the input that is farthest out; else -1.
    text: the same as a sentence."""

    type: str
    reason: str
    missed: bool
    sequence: int
    stream: int
    id: int
    other: int
    gain: float
    rows: float
    clusters: int
    input: int
    text: str


@dataclasses.dataclass(frozen=True)
class Snapshot(Record):
    """What is in a file; config: every field of the configuration."""

    clusters: int
    format: int
    streams: int
    rows: int
    rows_waiting: int
    events: int
    time: float
    version: str
    config: dict


@dataclasses.dataclass(frozen=True)
class Gains(Record):
    """What is in a set of gains. base_mark, encoder_mark: equal for what fits together."""

    gains: int
    born: int
    clusters: int
    rows: int
    base_streams: int
    base_mark: int
    encoder_mark: int


@dataclasses.dataclass(frozen=True)
class Alias(Record):
    """What became of the cluster that was born as number `local`, from 1, of a worker's gain."""

    worker: int
    sequence: int
    local: int
    id: int


@dataclasses.dataclass(frozen=True)
class Metrics(Record):
    """Agreement of clusters with labels that the model has never seen; 1 is best."""

    rows: int
    labels: int
    clusters: int
    nmi: float
    nmi_geometric: float
    ari: float
    homogeneity: float
    completeness: float
    v_measure: float
    accuracy: float
    purity: float
