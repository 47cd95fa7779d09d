"""Clusters an unlabelled stream of rows while it learns their features.

    from adapvae import AdapVAE
    model = AdapVAE().partial_fit(rows)
    model.predict(rows), model.novelty(rows)
"""
from ._library import AdapVAEError, Field
from ._model import AdapVAE, evaluate, fields, inspect, instruction_set, presets, version
from ._records import Cluster, Event, Info, Metrics, Report, Snapshot

__version__ = version()
__all__ = ["AdapVAE", "AdapVAEError", "Cluster", "Event", "Field", "Info", "Metrics", "Report", "Snapshot", "evaluate",
           "fields", "inspect", "instruction_set", "presets", "version"]
