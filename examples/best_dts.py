#!/usr/bin/env python3
"""Another tool's view of a profile: the best DTS of each problem, with nothing but JSON.

    python3 examples/best_dts.py profiles/my-gpu.json
"""
import json
import sys

if len(sys.argv) != 2:
    sys.exit("usage: best_dts.py PROFILE")
with open(sys.argv[1], encoding="utf-8") as file:
    profile = json.load(file)
if profile["schemaVersion"] != 1:
    sys.exit(f"wanted a profile of version 1, found {profile['schemaVersion']}")

gpu = profile["device"]["gpu"]
print(gpu["description"] if gpu else profile["device"]["cpu"]["model"])
for entry in profile["entries"]:
    problem, configuration = entry["problem"], entry["configuration"]
    variant = next((f"{name} {problem[name]}" for name in ("order", "delta", "rule", "medium") if name in problem), "")
    dts = configuration["parameters"].get("dts", "no torres")
    rate = entry["result"]["cellsPerSecond"] / 1e9
    print(f"{problem['stencil']} {variant}: DTS {dts}, {rate:.0f} Gcells/s")
