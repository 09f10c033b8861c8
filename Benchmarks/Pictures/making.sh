# shellcheck shell=bash
# Sourced by the scripts that measure with pictures: makes them where they are not yet, in the folder `$out`.

# Builds the program that makes pictures, which needs libspng.
build_maker() {
  local flags
  read -ra flags < <(pkg-config --cflags --libs spng)
  cc -O2 -Wall -Wextra -Werror -o "$out/pictures" Benchmarks/Pictures/pictures.c "${flags[@]}"
}

# NAME WIDTH HEIGHT SEED, and what cjpeg is to do.
jpeg() {
  [ -e "$out/$1.jpg" ] || "$out/pictures" picture "$2" "$3" "$4" | cjpeg "${@:5}" -quality 85 -outfile "$out/$1.jpg"
}
