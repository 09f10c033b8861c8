"""What replays of recordings foretell, and what the recorded programs do; called by `advice`."""

import json
import os
import struct
import subprocess
import sys
import zlib


def write_photo(path, number, width=640, height=480):
    """A PNG file without transparency, which a viewer can keep compact."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    slope = bytes((x * 255 // width + number * 37 * channel) & 255 for x in range(2 * width) for channel in range(3))
    rows = b"".join(b"\0" + slope[3 * (y * (number + 3) % width):][:3 * width] for y in range(height))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def answer(words):
    return json.loads(subprocess.check_output([str(word) for word in words]))


class Comparison:
    def __init__(self, tools, folder):
        self.memchunk = os.path.join(tools, "memchunk")
        self.folder = folder
        self.failures = 0

    def foretold(self, trace, policy, budget):
        words = [self.memchunk, "replay", trace, "--policy", policy, "--budget", f"{budget}B", "--json"]
        result = answer(words)["policies"][0]
        return result["missedBytes"], result["missedNanoseconds"]

    def generations(self, trace):
        """For each label how often it was generated, and how many nanoseconds that took."""
        session = answer([self.memchunk, "report", trace, "--json"])["session"]
        assert session["lanesLeftOut"] == 0
        found = {}
        for lane in session["lanes"]:
            count, time = found.get(lane["label"], (0, 0))
            found[lane["label"]] = count + lane["generations"], time + lane["nanoseconds"]
        return found

    def compare(self, name, policy, run, budget):
        """`run` runs the program at a budget, recording it, and gives back its own account."""
        first = os.path.join(self.folder, "first.trace")
        again = os.path.join(self.folder, "again.trace")
        run(budget, first)
        known = self.generations(first)
        for other in (budget // 2, budget, budget * 2):
            real = cost = 0
            # Runs under orders that weigh costs differ among themselves, because the clock does.
            runs = 1 if policy == "lru" else 3
            for _ in range(runs):
                real += run(other, again)["generatedBytes"] / runs
                cost += sum(known[label][1] * count / max(1, known[label][0]) / runs
                            for label, (count, _) in self.generations(again).items())
            bytes_foretold, cost_foretold = self.foretold(first, policy, other)
            within = all(0.9 * truth <= guess <= 1.1 * truth
                         for guess, truth in ((bytes_foretold, real), (cost_foretold, cost)))
            self.failures += policy == "lru" and not within
            print(f"{name:10} {policy:9} {other / 1e6:6.2f} MB: {bytes_foretold / 1e6:8.2f} MB foretold,"
                  f" {real / 1e6:8.2f} generated ({bytes_foretold / real - 1:+.1%});"
                  f" {cost_foretold / 1e6:8.1f} ms foretold, {cost / 1e6:8.1f} taken"
                  f" ({cost_foretold / max(1, cost) - 1:+.1%}){'' if within else '  TOO FAR OFF'}", flush=True)
        thrash = answer([self.memchunk, "advise", first, "--json"])["thrash"]
        if policy != "lru" or thrash is None:
            return
        enough = thrash["budgetThatStopsItBytes"]
        generations = run(enough, again)["generations"]
        more = generations - sum(count > 0 for count, _ in self.generations(again).values())
        self.failures += 4 * more > generations
        print(f"{name:10} {policy:9} {enough / 1e6:6.2f} MB recommended: {more} of {generations} generations again,"
              f" {thrash['again']} of {thrash['generations']} before", flush=True)

    def compare_planned(self, name, run, budget):
        """The same of a program that plans by its budget: its recordings say what it would do with others."""
        first = os.path.join(self.folder, "first.trace")
        again = os.path.join(self.folder, "again.trace")
        run(budget, first)
        for other in (budget // 2, budget, budget * 2):
            bytes_foretold, cost_foretold = self.foretold(first, "lru", other)
            real = run(other, again)["generatedBytes"]
            # For the budget that it was recorded with, a recording says what it measured.
            cost = self.foretold(again, "lru", other)[1]
            within = 0.9 * real <= bytes_foretold <= 1.1 * real
            self.failures += not within
            print(f"{name:10} {'planned':9} {other / 1e6:6.2f} MB: {bytes_foretold / 1e6:8.2f} MB foretold,"
                  f" {real / 1e6:8.2f} generated ({bytes_foretold / real - 1:+.1%});"
                  f" {cost_foretold / 1e6:8.1f} ms foretold, {cost / 1e6:8.1f} taken"
                  f" ({cost_foretold / max(1, cost) - 1:+.1%}){'' if within else '  TOO FAR OFF'}", flush=True)
        thrash = answer([self.memchunk, "advise", first, "--json"])["thrash"]
        enough = thrash["budgetThatStopsItBytes"]
        account = run(enough, again)
        self.failures += account["bands"] != 1
        print(f"{name:10} {'planned':9} {enough / 1e6:6.2f} MB recommended: {account['bands']} band,"
              f" {account['generations']} generations, {thrash['generations']} before", flush=True)


def main(tools, sessions, folder):
    lifecards, small = os.path.join(tools, "lifecards"), os.path.join(folder, "small")
    photos = [os.path.join(folder, f"{number}.png") for number in range(60)]
    for number, photo in enumerate(photos):
        write_photo(photo, number)
    os.mkdir(small)
    comparison = Comparison(tools, folder)
    card, picture = os.path.join(folder, "card.ora"), os.path.join(folder, "card.png")
    subprocess.check_output([lifecards, "sample", card, "--layers=24", "--width=1000", "--height=1000"])
    least = answer([lifecards, "info", card, "--json"])["leastBudgetBytes"]
    comparison.compare_planned(
        "rendering",
        lambda budget, trace: answer(
            [lifecards, "render", card, picture, "--level=1", "--budget", f"{budget}B", "--trace", trace, "--json"]),
        least * 11 // 5)

    def thumbnail(budget, trace):
        words = ["--out", small, "--size", 200, "--budget", f"{budget}B", "--trace", trace, "--json"]
        return answer([lifecards, "thumbnail"] + photos + words)

    comparison.compare("thumbnails", "lru", thumbnail, 2_000_000)
    for name, views, budget in (("document", 60, 12_000_000), ("viewer", 1_000, 10_000_000)):
        for policy in ("lru", "costAware", "adaptive"):
            comparison.compare(
                name, policy, lambda budget, trace: answer([sessions, name, policy, budget, views, trace] + photos), budget)
    return comparison.failures > 0


sys.exit(main(*sys.argv[1:]))
