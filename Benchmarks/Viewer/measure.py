"""Measures the viewers one after the other, and writes README.md."""

import json
import os
import platform
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Documents"))
import watching  # noqa: E402
from watching import MB, medians  # noqa: E402

viewer, out, here, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
BASE = "Qt's QPixmapCache"


def view(*command):
    # The order of views comes on the standard input.
    result = watching.run(
        ["sh", "-c", 'exec "$@" <"$0"', f"{out}/order.txt", *command, out], {"QT_QPA_PLATFORM": "offscreen"})
    return {**result, **json.loads(result["output"])}


runs = {
    "`.costAware`, compact form": lambda: view(viewer, "view", "costAware", "compact"),
    "`.adaptive`, compact form": lambda: view(viewer, "view", "adaptive", "compact"),
    "`.lru`, compact form": lambda: view(viewer, "view", "lru", "compact"),
    "`.costAware`, of the file": lambda: view(viewer, "view", "costAware", "file"),
    "`.lru`, of the file": lambda: view(viewer, "view", "lru", "file"),
}
if os.path.exists(f"{out}/qt"):
    runs[BASE] = lambda: view(f"{out}/qt")

results = medians(runs, rounds)
base = results.get(BASE)
for name, numbers in results.items():
    # The same pictures, but for the compact form's loss: the mean of all colours looked at is within a thousandth.
    if base and abs(numbers["sum"] / base["sum"] - 1) > 0.001:
        sys.exit(f"{name}: other pictures than {BASE}: {numbers['sum']}, {base['sum']}")

lines = [
    "# A viewer of photos",
    "",
    "Written by `Benchmarks/Viewer/run`; medians of "
    f"{rounds} runs in turn, on {os.cpu_count()} processors ({platform.machine()}), other work on them included. 5 000 views "
    "of 200 JPEG photos of 4000 x 3000 at 500 x 375, in one order by Zipf's law with exponent 1, within 32 MB, in a process "
    "that starts with nothing. Each view looks at some of the pixels, and all programs see the same ones: the means of their "
    "colours are compared, and lie within a thousandth. Qt reads by `QImageReader` with `setScaledSize`, which has libjpeg "
    "make the pictures smaller, as `Pictures` does. MB are 2^20 bytes; anonymous memory is sampled every 5 ms.",
    "",
    "| pixels | seconds | CPU seconds | of Qt's seconds | of Qt's CPU seconds | hits | files decoded | anonymous MB |",
    "|---|---|---|---|---|---|---|---|",
]


def share(numbers, key):
    return f"{numbers[key] / base[key]:.3f}" if base else "not measured"


for name, numbers in results.items():
    lines.append(
        f"| {name} | {numbers['seconds']:.2f} | {numbers['cpu']:.2f} | {share(numbers, 'seconds')} "
        f"| {share(numbers, 'cpu')} | {numbers['hits']:.0f} | {numbers['decoded']:.0f} "
        f"| {numbers['anonymous'] / MB:.1f} |")
lines += [
    "",
    "- Under `.costAware` files are decoded about once: a compact form counts an eighth of its pixels' bytes and takes many times "
    "as long to make, so it stays, and pixels that are missed are made of it.",
    "- Under `.lru` the compact form does not help. It was last used when its pixels were made, so it goes before them.",
    "- Without it costs are all alike, and `.costAware` goes by uses alone.",
]
with open(f"{here}/README.md", "w") as file:
    file.write("\n".join(lines) + "\n")
print("\n".join(lines))
for key in ("seconds", "cpu"):
    if base and results["`.costAware`, compact form"][key] > 0.25 * base[key]:
        sys.exit(f"`.costAware` took more than a quarter of Qt's {key}")
