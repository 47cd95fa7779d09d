"""Clusters an unlabelled stream of rows while it learns their features.

    from adapvae import AdapVAE
    model = AdapVAE().partial_fit(rows)
    model.predict(rows), model.novelty(rows)
"""
from ._library import AdapVAEError, Field
from ._model import (AdapVAE, evaluate, fields, inspect, inspect_gains, instruction_set, merge_gains, presets,
                     version)
from ._records import Alias, Cluster, Event, Gains, Info, Metrics, Report, Snapshot

__version__ = version()
__all__ = ["AdapVAE", "AdapVAEError", "Alias", "Cluster", "Event", "Field", "Gains", "Info", "Metrics", "Report",
           "Snapshot", "evaluate", "fields", "inspect", "inspect_gains", "instruction_set", "merge_gains", "presets",
           "version"]
