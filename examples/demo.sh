#!/bin/sh
# What h3n does, on three sentences of its own. Run by `make demo`; writes into a folder it names at the end.
set -eu
here=$(dirname "$0")
out=${1:-out}
mkdir -p "$out"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { say "\$ $*"; "$@"; }

say "Three sentences with their phrase structure:"
cat "$here/sentences.ptb"
run h3n convert "$here/sentences.ptb" "$out/both.jsonl" --scheme ud2
run h3n convert "$out/both.jsonl" "$out/sentences.conllu"
head -n 7 "$out/sentences.conllu"
say "Phrase structure and dependencies as one head-driven tree:"
run h3n draw "$out/both.jsonl" --sentence 2
run h3n draw "$out/both.jsonl" --output-format html -o "$out/trees.html"
run h3n stats "$out/both.jsonl"
say "The pictures are in $out/trees.html"
