"""
Kernel Tuner's own strategies on recorded caches, each search with a seed and a cache file of its own, so that nothing is
kept from one to the next:

    PYTHONPATH=KERNEL_TUNER python3 bench/search_with_kernel_tuner.py SEEDS STRATEGY,STRATEGY... FILE...

Prints of each file and strategy the medians, and of each strategy the geometric means over all searches, of how much
slower than the fastest the best is after 10, 25, 50 and 100 evaluations; what is evaluated again is not counted.
`bench/compare_searches.ts` prints the same of Facet's. KERNEL_TUNER is a folder with Kernel Tuner and what it needs.
"""
import contextlib
import gzip
import io
import json
import logging
import math
import os
import random
import statistics
import sys
import tempfile
import warnings

import numpy
from kernel_tuner.interface import tune_cache

AFTER = [10, 25, 50, 100]

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def read_cache(path):
    with (gzip.open if path.endswith("gz") else open)(path) as file:
        return json.load(file)


def time_of(record):
    """Of a configuration that failed, infinite."""
    time = record.get("time")
    return time if isinstance(time, (int, float)) and time > 0 else math.inf


def search(cache, strategy, seed):
    """How much slower than the fastest the best of a search is, after each of AFTER."""
    random.seed(seed)
    numpy.random.seed(seed)
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(cache, file)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            options = {"max_fevals": AFTER[-1]}
            results, _ = tune_cache(file.name, strategy=strategy, strategy_options=options, objective="time", quiet=True)
    finally:
        os.unlink(file.name)
    evaluated = {}
    for result in results:
        evaluated.setdefault(tuple(str(result[name]) for name in cache["tune_params_keys"]), time_of(result))
    times = list(evaluated.values())
    fastest = min(map(time_of, cache["cache"].values()))
    # a search that found nothing counts as eleven times as slow
    return [min(10, min(times[:count]) / fastest - 1) for count in AFTER]


def percents(values):
    return " ".join(f"{100 * value:.1f}%" for value in values)


seeds, strategies, files = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
found = {strategy: [] for strategy in strategies}
for path in files:
    cache = read_cache(path)
    for strategy in strategies:
        regrets = [search(cache, strategy, seed) for seed in range(seeds)]
        found[strategy] += regrets
        print(path, strategy, percents(map(statistics.median, zip(*regrets))), flush=True)
for strategy, regrets in found.items():
    means = [math.exp(statistics.mean(math.log1p(regret) for regret in column)) - 1 for column in zip(*regrets)]
    print("geometric mean:", strategy, percents(means))
