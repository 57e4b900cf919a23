#!/bin/sh
# What h3n does, on three sentences. Run by `make demo`; writes into a folder it names at the end.
set -eu
out=${1:-out}
mkdir -p "$out"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { say "\$ $*"; "$@"; }

cat > "$out/three.txt" <<'TEXT'
She is carefully making the cake. The parser that we trained yesterday doesn't need a network connection. Linguists
look at trees, and engineers count milliseconds!
TEXT

say "Plain English in:"
cat "$out/three.txt"
say "Phrase structure and dependencies out, as one head-driven tree:"
run h3n parse "$out/three.txt"
run h3n parse "$out/three.txt" -o "$out/three.conllu"
head -n 10 "$out/three.conllu"
run h3n parse "$out/three.txt" --to brackets
run h3n parse --text "She is carefully making the cake." -o "$out/cake.svg"
run h3n parse "$out/three.txt" -o "$out/three.html"
say "The pictures are $out/cake.svg and, of all three, $out/three.html"
