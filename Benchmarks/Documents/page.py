"""Writes the page of results and its plot; `python3 page.py RESULTS.json DIRECTORY` does it again."""

import json
import platform
import re
import sys

MB = 1 << 20

# What a symbol is part of; the first that matches. The decoders are ISA-L's here, so zlib only encodes.
PARTS = [
    ("inflate and checksums", r"libisal|^lifecards.*(inflate|cpr_crc|cpr_adler)"),
    ("unfilter", r"unfilter"),
    ("blend and resolve", r"crb_|blend|resolve|SourceOver"),
    ("encode", r"libz\.|libspng|PNGWriter"),
    ("the kernel: reading and writing", r"kernel"),
    ("the rest", r""),
]


def write(results, directory):
    """Writes README.md and peak.svg; returns whether all limits hold."""
    checks = list(_checks(results))
    with open(f"{directory}/README.md", "w") as file:
        file.write(_page(results, checks))
    with open(f"{directory}/peak.svg", "w") as file:
        file.write(_plot(results))
    for check in checks:
        print(_line(*check))
    return all(value <= limit for _, _, value, limit, _ in checks)


def _checks(results):
    """What must hold: (job, what, measured, at most, form)."""
    documents = results["documents"]
    forty, hundred, thousand = (documents[key]["runs"] for key in ("forty", "hundred", "thousand"))
    ours, rival = forty["lifecards"], forty["libvips"]
    job = documents["forty"]["name"]
    yield job, "wall time beside libvips", ours["seconds"] / rival["seconds"], 0.6, "{:.2f} x"
    yield job, "CPU seconds beside libvips", ours["cpu"] / rival["cpu"], 0.55, "{:.2f} x"
    yield from _memory(job, ours, 6, 14)
    ten, six = hundred["lifecards, 10 MB"], hundred["lifecards, 6 MB"]
    job = documents["hundred"]["name"] + ", --budget 10MB"
    yield job, "wall time beside libvips", ten["seconds"] / hundred["libvips"]["seconds"], 0.4, "{:.2f} x"
    yield from _memory(job, ten, 14, 22)
    job = documents["hundred"]["name"] + ", --budget 6MB"
    yield job, "wall time beside --budget 10MB", six["seconds"] / ten["seconds"], 3, "{:.2f} x"
    yield from _memory(documents["thousand"]["name"] + ", --budget 10MB", thousand["lifecards, 10 MB"], 14, 22)
    for key, runs in (("forty", forty), ("hundred", hundred), ("thousand", thousand)):
        extra = max(run["extra"] for name, run in runs.items() if name.startswith("lifecards"))
        yield documents[key]["name"], "bytes written beside the output", extra, 0, "{:.0f}"


def _memory(job, run, anonymous, resident):
    yield job, "anonymous memory", run["anonymous"] / MB, anonymous, "{:.1f} MB"
    yield job, "resident peak", run["resident"] / MB, resident, "{:.1f} MB"


def _line(job, what, value, limit, form):
    verdict = "ok" if value <= limit else "FAILED"
    return f"| {job} | {what} | {form.format(value)} | {form.format(limit)} | {verdict} |"


def _page(results, checks):
    documents = results["documents"]
    lines = [
        "# Documents: lifecards beside others",
        "",
        f"Measured by `Benchmarks/Documents/run`, which writes this page: {results['threads']} threads on a machine with two",
        f"shared cores ({platform.machine()}); medians of {results['rounds']} rounds (half as many for the larger documents, one for",
        "ImageMagick), all programs in turn on the same files. Resident peak is VmHWM as the process reads it at its end,",
        "ImageMagick's as last seen from outside; anonymous memory is RssAnon, sampled every 5 ms. An MB is 2^20 bytes.",
        "",
        f"`lifecards` compresses at level {results['level']} by default and libvips at 6; both are measured at either level.",
        "",
        "| job | what | measured | at most | |",
        "|---|---|---|---|---|",
        *(_line(*check) for check in checks),
        "",
        "| document | program | wall s | CPU s | resident MB | anonymous MB | written MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for document in documents.values():
        name = f"{document['name']}, {document['png'] / MB:.0f} MB of PNG"
        for program, run in document["runs"].items():
            lines.append(
                f"| {name} | {program} | {run['seconds']:.2f} | {run['cpu']:.2f} | {run['resident'] / MB:.1f} | "
                f"{run['anonymous'] / MB:.1f} | {run['written'] / MB:.1f} |")
    lines += [
        "",
        "Largest differences from what `lifecards` makes of the first document, in steps of 8 bits, by alpha and by colour",
        "multiplied by alpha: " + "; ".join(f"{name}: {text}" for name, text in results["differences"].items()) + ".",
        "",
        "## Where the time goes",
        "",
        f"{documents['forty']['name']} with one thread, by `perf record -e cpu-clock`:",
        "",
        "| part | share |",
        "|---|---|",
        *(f"| {part} | {share:.0f} % |" for part, share in _parts(results["shares"])),
        "",
        "## What the peak depends on",
        "",
        "A layer keeps the state of its decoder and one row, so the peak grows with the number of layers and the width of",
        "the canvas, and not with the number of pixels; from the budget on (10 MB here) it does not grow at all.",
        "",
        "![Peak against layers and canvas](peak.svg)",
        "",
    ]
    return "\n".join(lines)


def _parts(shares):
    sums = {part: 0 for part, _ in PARTS}
    for library, symbol, percent in shares:
        part = next(part for part, pattern in PARTS if re.search(pattern, f"{library} {symbol}"))
        sums[part] += percent
    return sums.items()


WIDTH, HEIGHT, MARGIN = 360, 240, 46


def _plot(results):
    panels = [
        ("layers of 1000 x 1000", [(point["layers"], point) for point in results["layers"]]),
        ("side of the canvas in pixels, 10 layers", [(point["side"], point) for point in results["sides"]]),
    ]
    highest = max(point["resident"] for _, points in panels for _, point in points)
    top = 2 * (int(highest / 2) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="white"/>']
    for index, (title, points) in enumerate(panels):
        parts += _panel(index * WIDTH, title, points, top)
    return "\n".join(parts + ["</svg>", ""])


def _panel(left, title, points, top):
    most = max(x for x, _ in points)
    across, down = WIDTH - MARGIN - 20, HEIGHT - 2 * MARGIN + 10
    bottom = MARGIN - 10 + down

    def place(x, megabytes):
        return left + MARGIN + across * x / most, bottom - down * megabytes / top

    yield f'<text x="{left + WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">{title}</text>'
    for megabytes in range(0, top + 1, 2):
        x, y = place(0, megabytes)
        yield f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x + across:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{megabytes}{" MB" if megabytes == top else ""}</text>'
    for key, color, label in (("resident", "#1b6ca8", "resident peak"), ("counted", "#d1495b", "counted peak")):
        places = [place(x, point[key]) for x, point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places)
        x, y = places[-1]
        yield f'<text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="end" fill="{color}">{label}</text>'
    # Every mark has its pixels beneath it, so that the eye can compare.
    for x, point in points:
        at, _ = place(x, 0)
        if x >= most / 5:
            yield f'<text x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">{x}</text>'
            yield f'<text x="{at:.1f}" y="{bottom + 26}" text-anchor="middle" fill="#888">{point["raw"]:.0f} MB</text>'


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        sys.exit(0 if write(json.load(file), sys.argv[2]) else 1)
