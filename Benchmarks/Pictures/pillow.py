"""Makes thumbnails with Pillow, decoding JPEG no larger than needed: pillow.py SIZE THREADS DIR FILE ..."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

size, threads, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
Image.MAX_IMAGE_PIXELS = None


def make(path):
    with Image.open(path) as picture:
        # Twice the size, as Pillow's own default for `thumbnail` has it.
        picture.draft("RGB", (2 * size, 2 * size))
        picture.thumbnail((size, size))
        picture.convert("RGBA").save(os.path.join(directory, os.path.basename(path) + ".png"), compress_level=4)


with ThreadPoolExecutor(threads) as pool:
    list(pool.map(make, sys.argv[4:]))
