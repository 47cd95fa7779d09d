"""Pictures, with matplotlib."""
from typing import Any, Optional, Tuple

import numpy as np


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib") from None
    return plt.subplots()[1] if ax is None else ax


def _names(model: Any) -> dict:
    return {cluster.id: cluster.name or str(cluster.id) for cluster in model.clusters()}


def timeline(model: Any, ax: Any = None) -> Any:
    """A line a cluster, from its birth to its end, or to the last stream."""
    ax = _axes(ax)
    last = max(model.info().streams, 1)
    lives = {cluster.id: [cluster.born_stream, last] for cluster in model.clusters()}
    ends = {}
    for event in model.events():
        if event.type == "born":
            lives.setdefault(event.id, [event.stream, last])
        elif event.type in ("merged", "retired") and event.other in lives:
            lives[event.other][1] = event.stream
            ends[event.other] = (event.stream, event.id)
        elif event.type == "forgotten" and event.id in lives:
            lives[event.id][1] = event.stream
    order = {id: place for place, id in enumerate(sorted(lives))}
    names = _names(model)
    for id, (begin, end) in lives.items():
        ax.plot([begin, end], [order[id]] * 2, marker="o", markevery=[0], color=f"C{id % 10}")
    for id, (stream, into) in ends.items():
        if into in order:
            ax.annotate("", (stream, order[into]), (stream, order[id]), arrowprops={"arrowstyle": "->", "alpha": 0.5})
    ax.set_yticks(list(order.values()), [names.get(id, str(id)) for id in order])
    ax.set_xlabel("stream")
    ax.set_ylabel("cluster")
    return ax


def prototypes(model: Any, shape: Optional[Tuple[int, int]] = None, ax: Any = None) -> Any:
    ax = _axes(ax)
    names = _names(model)
    rows = {id: model.interpolate(id, id, 1)[0] for id in names}
    config = model.config() if rows else {}
    if shape is None and config.get("image_width", 0) > 0 and config["image_channels"] == 1:
        shape = (config["image_height"], config["image_width"])
    if shape is None:
        for id, row in rows.items():
            ax.plot(row, label=names[id], color=f"C{id % 10}")
        ax.set_xlabel("input")
        if rows:
            ax.legend(title="cluster")
        return ax
    if rows:
        height, width = shape
        columns = int(np.ceil(np.sqrt(len(rows))))
        lines = -(-len(rows) // columns)
        sheet = np.zeros((lines * height, columns * width), np.float32)
        for place, (id, row) in enumerate(rows.items()):
            y, x = place // columns * height, place % columns * width
            sheet[y:y + height, x:x + width] = row.reshape(shape)
            ax.text(x, y, names[id], color="C1", va="top")
        ax.imshow(sheet, cmap="gray")
    ax.set_axis_off()
    return ax


def latent(model: Any, X: Any, ax: Any = None) -> Any:
    ax = _axes(ax)
    features = model.transform(X).astype(np.float64)
    ids = model.predict(X)
    features -= features.mean(axis=0)
    axes = np.linalg.svd(features, full_matrices=False)[2][:2]
    places = features @ axes.T
    if places.shape[1] == 1:
        places = np.hstack([places, np.zeros_like(places)])
    names = _names(model)
    for id in np.unique(ids):
        chosen = ids == id
        ax.scatter(places[chosen, 0], places[chosen, 1], s=8, color=f"C{id % 10}", label=names.get(int(id), "none"))
    ax.legend(title="cluster")
    return ax
