"""What libCacheSim and `memchunk replay` make of the same requests; called by `compare`."""

import csv
import json
import subprocess
import sys

import libcachesim

POLICIES = {"lru": libcachesim.LRU, "sieve": libcachesim.Sieve, "gdsf": libcachesim.GDSF}


def read(path):
    """Requests as (number, size); a key keeps the first size that it came with."""
    with open(path, newline="") as file:
        numbers, sizes, requests = {}, [], []
        for row in csv.DictReader(file):
            number = numbers.setdefault(row["id"], len(numbers))
            if number == len(sizes):
                sizes.append(int(row["size"]))
            requests.append((number, sizes[number]))
    return requests, sum(sizes)


def simulate(policy, budget, requests):
    """Misses and missed bytes. libCacheSim takes no objects above the budget; a size must be an integer."""
    cache = POLICIES[policy](cache_size=int(budget), consider_obj_metadata=False)
    misses = missed = 0
    request = libcachesim.Request()
    for number, size in requests:
        request.obj_id, request.obj_size = number, size
        if not cache.get(request):
            misses, missed = misses + 1, missed + size
    return misses, missed


def replay(program, path, budget):
    words = [program, "replay", path, "--mode", "libCacheSim", "--policy", ",".join(POLICIES)]
    answer = json.loads(subprocess.check_output(words + ["--budget", str(budget), "--json"]))
    return {each["policy"]: (each["misses"], each["missedBytes"]) for each in answer["policies"]}


def main(program, paths):
    differing = 0
    for path in paths:
        requests, footprint = read(path)
        for percent in (1, 10, 30):
            budget = footprint * percent // 100
            ours = replay(program, path, budget)
            for policy in POLICIES:
                theirs = simulate(policy, budget, requests)
                same = theirs == ours[policy]
                differing += not same
                print(f"{path} {percent:2} % {policy:5} misses {theirs[0]:7} bytes {theirs[1]:12}",
                      "equal" if same else f"memchunk: {ours[policy]}")
    return differing > 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
