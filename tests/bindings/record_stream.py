"""The golden stream through the Python package; as tests/wasm/record_stream.c:

    record_stream.py ROWS STREAM_ROWS MODEL_OUT preset=NAME [FIELD=VALUE]...
"""
import json
import sys

import numpy as np
from adapvae import AdapVAE

path, stream_rows, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
model = AdapVAE(**dict(setting.split("=") for setting in sys.argv[4:]))
rows = np.fromfile(path, "<f4").reshape(-1, 64)
for at in range(0, len(rows), stream_rows):
    report = model.learn(rows[at:at + stream_rows])
    print(json.dumps({"stream": at // stream_rows, "clusters": report.clusters, "births": report.births,
                      "bound": report.bound, "loss": report.loss}))
for cluster in model.clusters():
    print(json.dumps({"cluster": cluster.id, "components": cluster.components, "parent": cluster.parent, "rows": cluster.rows}))
for score in model.score_rows(rows):
    print(json.dumps({"id": int(score["id"]), "component": int(score["component"]), "novelty": float(score["novelty"])}))
model.save(out)
