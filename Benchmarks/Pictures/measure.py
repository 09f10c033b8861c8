"""Measures `lifecards thumbnail` beside other programs, and writes README.md."""

import glob
import json
import os
import platform
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Documents"))
import watching  # noqa: E402
from watching import MB, medians  # noqa: E402

lifecards, out, here, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
small = f"{out}/small"
os.makedirs(small, exist_ok=True)


def thumbnails(files, size, threads=1, budget="10MB"):
    result = watching.run(
        [lifecards, "thumbnail", *files, "--out", small, "--size", str(size), "--threads", str(threads), "--budget",
         budget, "--json"])
    account = json.loads(result["output"])
    # Resident memory as the process itself read it at its end.
    result["resident"] = account["peakResidentBytes"]
    result["counted"] = account["peakCountedBytes"]
    return result


def shown(number, digits, unit=1):
    return "not measured" if number is None else f"{number / unit:.{digits}f}"


def claim():
    """A JPEG file of 979 bytes that claims 20000 x 20000."""
    path = f"{out}/claims.jpg"
    ppm = b"P6\n16 16\n255\n" + bytes(range(256)) * 3
    data = bytearray(subprocess.run(["cjpeg", "-quality", "50"], input=ppm, check=True, capture_output=True).stdout)
    frame = data.index(b"\xff\xc0")
    data[frame + 5:frame + 9] = struct.pack(">HH", 20000, 20000)
    # A comment makes up the size.
    comment = 979 - len(data) - 4
    data[2:2] = b"\xff\xfe" + struct.pack(">H", comment + 2) + bytes(comment)
    with open(path, "wb") as file:
        file.write(data)
    return path


def refused(path):
    process = subprocess.run(
        [lifecards, "thumbnail", path, "--out", small, "--json", "--threads", "1"], capture_output=True, text=True)
    account = json.loads(process.stdout)
    assert process.returncode == 1 and account["failed"] == 1, process.stdout
    return {
        "seconds": account["seconds"], "cpu": None, "anonymous": None, "resident": account["peakResidentBytes"],
        "counted": account["peakCountedBytes"], "written": 0}


many = sorted(glob.glob(f"{out}/many/*.jpg"))
jobs = [
    ("Adam7 PNG 4000 x 3000 to 800 x 600", {
        "lifecards": lambda: thumbnails([f"{out}/adam7.png"], 800),
        "libspng, the whole picture, not made smaller": lambda: watching.run(
            [f"{out}/pictures", "decode", f"{out}/adam7.png"]),
    }),
    ("progressive JPEG 12000 x 9000 to 800 x 600", {
        "lifecards": lambda: thumbnails([f"{out}/progressive-108.jpg"], 800),
        "djpeg -scale 1/8": lambda: watching.run(
            ["djpeg", "-scale", "1/8", "-outfile", "/dev/null", f"{out}/progressive-108.jpg"]),
    }),
    (f"{len(many)} JPEGs of 4000 x 3000 to 256 px, 2 threads", {
        "lifecards": lambda: thumbnails(many, 256, 2),
        "Pillow with draft": lambda: watching.run([sys.executable, f"{here}/pillow.py", "256", "2", small, *many]),
    }),
    ("979 bytes that claim 20000 x 20000, refused", {"lifecards": lambda: refused(claim())}),
]

lines = [
    "# Small pictures of large files",
    "",
    "Written by `Benchmarks/Pictures/run`; medians of "
    f"{rounds} runs, on {os.cpu_count()} processors ({platform.machine()}), other work on them included. MB are 2^20 bytes; "
    "anonymous memory is sampled every 5 ms. `lifecards` writes PNG files, decodes within `--budget 10MB`, and uses one "
    "thread unless said.",
    "",
    "| job | program | anonymous MB | resident MB | seconds | CPU seconds |",
    "|---|---|---|---|---|---|",
]
for job, runs in jobs:
    print(job, flush=True)
    for name, numbers in medians(runs, rounds).items():
        lines.append(
            f"| {job} | {name} | {shown(numbers['anonymous'], 1, MB)} | {shown(numbers['resident'], 1, MB)} "
            f"| {shown(numbers['seconds'], 2)} | {shown(numbers['cpu'], 2)} |")
with open(f"{here}/README.md", "w") as file:
    file.write("\n".join(lines) + "\n")
print("\n".join(lines))
