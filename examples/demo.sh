#!/bin/sh
# What h3n does today, on two sentences of its own.
set -eu
h3n --version
