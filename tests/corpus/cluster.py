"""Parse on a real Ray cluster of two nodes on this machine, of which one is lost on the way.

python -m tests.corpus.cluster MODEL TEXTS OUT
"""

from __future__ import annotations

import json
import os
import sys
import time

import ray
from ray.cluster_utils import Cluster

from h3n.corpus import Options, Progress, parse_corpus
from h3n.errors import UsageError

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


def main(model: str, texts: str, out: str) -> None:
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        lost = cluster.add_node(**NODE)
        cluster.wait_for_nodes()
        nodes = len([node for node in cluster.list_all_nodes() if node.is_head() or node is lost])
        seen: list[Progress] = []

        def lose_a_node(progress: Progress) -> None:
            if not seen:
                cluster.remove_node(lost, allow_graceful=False)  # kills its processes with signal 9
            seen.append(progress)

        finished = parse_corpus(
            [texts],
            out,
            model=model,
            options=Options(shard_size=300),
            engine="ray",
            address=cluster.address,
            on_progress=lose_a_node,
        )
        until = time.monotonic() + 120  # the cluster notices a loss by and by
        while (alive := sum(node["Alive"] for node in ray.nodes())) > 1 and time.monotonic() < until:
            time.sleep(0.2)
        again = parse_corpus([texts], out, model=model, options=Options(shard_size=300), engine="ray")
        told = {
            "shards": finished.shards,
            "reports": len(seen),
            "nodes": nodes,
            "alive": alive,
            "same": again == finished,
        }
        try:
            parse_corpus([texts], "memory://out", model=model, engine="ray")
        except UsageError as error:
            told["refused"] = str(error)
        sys.stdout.write(json.dumps(told) + "\n")
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    main(*sys.argv[1:4])
