"""Measures `lifecards render` beside other programs: what each takes, and that they compose the same."""

import json
import os
import subprocess
import sys

import page
import watching
from documents import Document
from watching import MB, medians

lifecards, out, here, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
THREADS = "2"


def render(document, *options):
    output = document.path + ".png"
    result = watching.run([lifecards, "render", document.path, output, "--json", "--threads", THREADS, *options])
    account = json.loads(result["output"])
    # Resident memory as the process itself read it at its end.
    result["resident"] = account["peakResidentBytes"]
    result["counted"] = account["peakCountedBytes"]
    result["bands"] = account["bands"]
    # Whatever was written beside the picture and the account.
    result["extra"] = result["written"] - os.path.getsize(output) - len(result["output"])
    return result


def libvips(document, level):
    command = [
        f"{out}/vips-compose", document.extract(), document.path + ".vips.png", str(document.width),
        str(document.height), str(level)]
    result = watching.run(command, {"VIPS_CONCURRENCY": THREADS})
    result["resident"] = int(result["output"]) * 1024
    return result


def imagemagick(document):
    return watching.run(document.imagemagick(document.path + ".magick.png"), {"MAGICK_THREAD_LIMIT": THREADS})


def compared(document, other):
    return subprocess.run(
        [f"{out}/compare", document.path + ".png", document.path + other], check=True, capture_output=True,
        text=True).stdout.strip()


def main():
    # The level that a picture gets by default is in the help.
    level = int(subprocess.run([lifecards, "render", "--help"], capture_output=True, text=True).stdout
                .split("0 to 9 (")[1].split(")")[0])
    results = {"rounds": rounds, "threads": THREADS, "level": level, "documents": {}}

    def measure(key, document, runs, times):
        print(document.name, flush=True)
        results["documents"][key] = {
            "name": document.name, "png": document.png_bytes, "runs": medians(runs, times)}

    forty = Document(lifecards, out, 40, 2000, 2000)
    measure("forty", forty, {
        "lifecards": lambda: render(forty),
        "libvips": lambda: libvips(forty, 6),
        f"libvips, level {level}": lambda: libvips(forty, level),
        "lifecards, level 6": lambda: render(forty, "--level", "6"),
    }, rounds)
    results["documents"]["forty"]["runs"]["ImageMagick"] = medians({"ImageMagick": lambda: imagemagick(forty)}, 1)["ImageMagick"]
    render(forty)
    results["differences"] = {
        "libvips": compared(forty, ".vips.png"), "ImageMagick": compared(forty, ".magick.png")}

    hundred = Document(lifecards, out, 100, 4000, 3000)
    measure("hundred", hundred, {
        "lifecards, 10 MB": lambda: render(hundred, "--budget", "10MB"),
        "libvips": lambda: libvips(hundred, 6),
        "lifecards, 6 MB": lambda: render(hundred, "--budget", "6MB"),
    }, max(1, rounds // 2))
    thousand = Document(lifecards, out, 1000, 1000, 1000)
    measure("thousand", thousand, {"lifecards, 10 MB": lambda: render(thousand, "--budget", "10MB")}, max(1, rounds // 2))

    command = [lifecards, "render", forty.path, forty.path + ".png", "--threads", "1"]
    results["shares"] = watching.shares(command, f"{out}/perf.data")
    print("Peaks", flush=True)
    results["layers"] = [peak(Document(lifecards, out, count, 1000, 1000)) for count in (5, 10, 20, 40, 80, 160)]
    results["sides"] = [peak(Document(lifecards, out, 10, side, side)) for side in (250, 500, 1000, 2000, 4000)]
    with open(f"{out}/results.json", "w") as file:
        json.dump(results, file, indent=1)
    sys.exit(0 if page.write(results, here) else 1)


def peak(document):
    result = render(document)
    return {
        "layers": document.layers, "side": document.width, "resident": result["resident"] / MB,
        "counted": result["counted"] / MB, "raw": 4 * document.layers * document.width * document.height / MB}


main()
