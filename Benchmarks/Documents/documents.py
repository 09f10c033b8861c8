"""Documents to measure with, and what programs that cannot read them need: the pictures as files, and a plan."""

import os
import subprocess
import xml.etree.ElementTree as xml
import zipfile


class Document:
    """A document made by `lifecards sample`, with its pictures beside it when somebody asks for them."""

    def __init__(self, lifecards, directory, layers, width, height):
        self.layers, self.width, self.height = layers, width, height
        self.name = f"{layers} layers of {width} x {height}"
        self.path = os.path.join(directory, f"{layers}-{width}-{height}.ora")
        if not os.path.exists(self.path):
            subprocess.run(
                [lifecards, "sample", self.path, "--layers", str(layers), "--width", str(width), "--height",
                 str(height)], check=True)

    @property
    def png_bytes(self):
        with zipfile.ZipFile(self.path) as archive:
            return sum(entry.file_size for entry in archive.infolist() if entry.filename.startswith("data/"))

    def extract(self):
        """Unpacks the pictures, and returns the path of the plan that vips-compose reads."""
        directory = self.path + ".files"
        plan = os.path.join(directory, "plan")
        if not os.path.exists(plan):
            with zipfile.ZipFile(self.path) as archive:
                archive.extractall(directory)
            root = xml.parse(os.path.join(directory, "stack.xml")).getroot()
            lines = "".join(line + "\n" for line in _lines(root.find("stack"), os.path.abspath(directory)))
            with open(plan, "w") as file:
                file.write(lines)
        return plan

    def imagemagick(self, output):
        """The command that has ImageMagick compose the same."""
        words = []
        for line in open(self.extract()):
            kind, *rest = line.split()
            if kind == "layer":
                x, y, opacity, file = rest
                words += ["(", file, "-repage", f"{int(x):+d}{int(y):+d}"] + _fade(opacity) + [")"]
            elif kind == "begin":
                words += ["("] + self._canvas
            else:
                words += ["-layers", "flatten"] + _fade(rest[0]) + [")"]
        return ["convert"] + self._canvas + words + ["-layers", "flatten", "-depth", "8", output]

    @property
    def _canvas(self):
        return ["-background", "none", "-size", f"{self.width}x{self.height}", "xc:none"]


def _fade(opacity):
    return [] if opacity == "1" else ["-channel", "A", "-evaluate", "multiply", opacity, "+channel"]


def _lines(stack, directory):
    # A document lists the uppermost first, a plan the lowest.
    for item in reversed(stack):
        opacity = f"{float(item.get('opacity', 1)):g}"
        if item.tag == "layer":
            path = os.path.join(directory, item.get("src"))
            yield f"layer {item.get('x', 0)} {item.get('y', 0)} {opacity} {path}"
        else:
            yield "begin"
            yield from _lines(item, directory)
            yield f"end {opacity}"
