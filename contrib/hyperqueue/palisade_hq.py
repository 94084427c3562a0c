#!/usr/bin/env python3
"""Does the jobs of a plan on HyperQueue, through its Python package: one task for each shard.

    palisade plan check tests -o jobs.jsonl
    palisade_hq.py jobs.jsonl --shards 8                     on the server that `hq server start` has started
    palisade_hq.py jobs.jsonl --shards 8 --local 2           on a server and two workers of its own
    palisade merge jobs.jsonl

A task that a worker's end has taken with it is started again by HyperQueue, and goes on where it was.
"""

import argparse
import os
import sys

from hyperqueue import Client, Job
from hyperqueue.cluster import LocalCluster, WorkerConfig
from hyperqueue.task.task import ResourceRequest


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="the plan")
    parser.add_argument("--shards", type=int, default=os.cpu_count(), help="how many tasks")
    parser.add_argument("--cpus", type=int, default=1, help="processors for each task")
    parser.add_argument("--local", type=int, metavar="WORKERS", help="start a server with so many workers")
    parser.add_argument("--server-dir", help="where the server keeps its files, without --local")
    parser.add_argument("--palisade", default="palisade", help="the command")
    return parser.parse_args()


def submit(client, options):
    """Submits the shards and waits for them; whether all have come to an end."""
    job = Job(max_fails=0, name="palisade")
    for number in range(1, options.shards + 1):
        job.program(
            [options.palisade, "run", options.plan, "--shard", f"{number}/{options.shards}", "--jobs", str(options.cpus)],
            cwd=os.getcwd(),
            name=f"shard-{number}",
            stdout=None,
            resources=ResourceRequest(cpus=options.cpus),
        )
    submitted = client.submit(job)
    return client.wait_for_jobs([submitted], raise_on_error=False)


def main():
    options = arguments()
    if options.local is None:
        return 0 if submit(Client(options.server_dir), options) else 3
    with LocalCluster() as cluster:
        for _ in range(options.local):
            cluster.start_worker(WorkerConfig(cores=options.cpus))
        return 0 if submit(cluster.client(), options) else 3


if __name__ == "__main__":
    sys.exit(main())
