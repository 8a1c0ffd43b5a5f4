# `make help` lists what there is. The two that matter: `make repro` and `make test`.
#
#   PYTHON=       the Python that .venv is made with, 3.11 to 3.13; not set: the first of them that is there
#   PRESET=       a name in presets/: `make repro PRESET=tiny`
#   JOBS=         how many stages `make repro` may run at once: `make repro JOBS=1`; not set: as many as have cores
#   JEMALLOC=     the library that allocates memory for `make repro`; empty: the C library does
#   TORCH_INDEX=  where to take PyTorch from, e.g. https://download.pytorch.org/whl/cpu or …/cu126;
#                 not set: where pip takes everything from

FITS := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for one in python3.11 python3.12 python3.13 python3; do \
	if "$$one" -c "$(FITS)" 2>/dev/null; then echo "$$one"; break; fi; done)
PRESET ?=
JOBS ?=
TORCH_INDEX ?=
JEMALLOC ?= $(firstword $(wildcard $(foreach folder,/usr/lib/$(shell uname -m)-linux-gnu /usr/lib64 /usr/lib, \
	$(folder)/libjemalloc.so.2)))
PORT ?= 5000

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

export PATH := $(CURDIR)/$(BIN):$(PATH)
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true
export DVC_NO_ANALYTICS := true

# It keeps what tensors give back: docs/speed.md.
KEEP := oversize_threshold:1,metadata_thp:auto,dirty_decay_ms:-1,muzzy_decay_ms:-1
PRELOAD := $(if $(JEMALLOC),LD_PRELOAD=$(JEMALLOC) MALLOC_CONF=$(KEEP))

.PHONY: help setup setup-peers repro plan allocator test test-slow soak scale-check check lint format ui lock docs docs-site

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:[^#]*## /\t/' | while IFS=$$'\t' read -r name text; do \
		printf '  make %-11s %s\n' "$$name" "$$text"; done

setup: $(STAMP)  ## the environment in .venv, every version pinned

# Whoever comes second waits for the first, and then finds nothing left to do. pip would compile one module after the
# other, 22,000 of them: all cores do it, but for other packages' own tests. DVC would use ruamel.yaml.clib wherever an
# earlier version left it, and with that parser DVC cannot read the params.yaml that `dvc exp run -S` writes.
$(STAMP): requirements.txt pyproject.toml
	@mkdir -p $(VENV)
	@exec 9> $(VENV)/.lock; flock 9; \
	if [[ $@ -nt requirements.txt && $@ -nt pyproject.toml ]]; then exit 0; fi; \
	if [[ ! -x $(BIN)/python ]]; then \
		python="$(PYTHON)"; [[ -n $$python ]] || \
			{ echo "error: there is no Python 3.11, 3.12 or 3.13; install one, or name it by PYTHON=" >&2; exit 2; }; \
		"$$python" -c "$(FITS)" 2>/dev/null || \
			{ echo "error: $$python is no Python 3.11, 3.12 or 3.13; set PYTHON= to one" >&2; exit 2; }; \
		"$$python" -m venv $(VENV); \
	fi; \
	$(BIN)/python -c "$(FITS)" || { echo "error: $(VENV) has no Python 3.11, 3.12 or 3.13: remove it" >&2; exit 2; }; \
	if [[ -n "$(TORCH_INDEX)" ]]; then \
		$(BIN)/python -m pip install -qq --no-compile --index-url "$(TORCH_INDEX)" "$$(grep -E '^torch==' requirements.txt)"; fi; \
	echo "installing requirements.txt into $(VENV) (a few minutes the first time)"; \
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile -r requirements.txt; \
	$(BIN)/python -m pip uninstall -qq --yes ruamel.yaml.clib 2>/dev/null; \
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .; \
	$(BIN)/python -m compileall -qq -j 0 -x 'site-packages/.*/tests?/' $(VENV)/lib || true; \
	touch $@

PEERS := .venv-peers

setup-peers: $(PEERS)/.installed  ## the libraries that benchmarks.peers compares with, in .venv-peers

$(PEERS)/.installed: benchmarks/requirements.txt
	@[[ -x $(PEERS)/bin/python ]] || $(PYTHON) -m venv $(PEERS)
	@if [[ -n "$(TORCH_INDEX)" ]]; then $(PEERS)/bin/python -m pip install -qq --index-url "$(TORCH_INDEX)" \
		"$$(grep -E '^torch==' benchmarks/requirements.txt)"; fi
	@$(PEERS)/bin/python -m pip install -qq --disable-pip-version-check -r benchmarks/requirements.txt
	@touch $@

repro: setup  ## raw text to report: the pipeline of params.yaml, or of PRESET=name
	@$(PRELOAD) python -m pipeline.preset "$(PRESET)" $(JOBS)

plan: setup  ## which stages `make repro` will run as things are, why, and how long they took last
	@python -m pipeline.plan --changes

# For the shell: eval "$(make -s allocator)"
allocator:  ## the exports by which jemalloc serves your own `dvc repro` too (docs/speed.md)
	@$(if $(PRELOAD),echo 'export $(PRELOAD)',echo "error: there is no libjemalloc.so.2; install it \
	(Debian and Ubuntu: libjemalloc2) or set JEMALLOC= to its path" >&2; exit 2)

# As many processes as cores, so one thread each: more would wait for each other.
TEST := OMP_NUM_THREADS=1 python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test: setup  ## the tests, but for those of tests/slow
	@$(TEST) --ignore=tests/slow

test-slow: setup  ## the tests that take long: kills, processes, servers, real runs of DVC
	@$(TEST) tests/slow

soak: setup  ## every reader of users' files fuzzed for ten minutes, 60 kills over all stages
	@QUARTET_FUZZ_SECONDS=$${QUARTET_FUZZ_SECONDS:-600} python -m pytest -s tests/slow/reliability/test_fuzz.py
	@python -m tests.reliability.kills

scale-check: setup  ## plans beside real trainings, two processes beside one, every paper preset dry (docs/planning.md)
	@python -m tests.scale_check
	@python -m pytest tests/slow/training/test_distributed.py
	@python -m tests.presets.dry_run

check: setup  ## ruff and mypy, as CI runs them
	ruff check .
	ruff format --check .
	mypy

lint: check

format: setup  ## let ruff rewrite what it can
	ruff check --fix .
	ruff format .

docs: setup  ## what README.md and the other pages quote of the committed reports, written again (after a new report)
	@python -m docs.quoted.blocks

DOCS := .venv-docs

docs-site: $(DOCS)/.installed  ## the documentation as a site with search and an API reference: site/index.html
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

$(DOCS)/.installed: docs/requirements.txt
	@[[ -x $(DOCS)/bin/python ]] || $(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install -qq --disable-pip-version-check -r docs/requirements.txt
	@touch $@

ui: setup  ## the MLflow UI on http://127.0.0.1:PORT, with the address where the models stand side by side
	@python -m pipeline.ui $(PORT)
	@[[ "$${MLFLOW_TRACKING_URI:-}" == http* ]] || mlflow ui --backend-store-uri \
		"$${MLFLOW_TRACKING_URI:-sqlite:///mlflow.db}" --host 127.0.0.1 --port $(PORT)

lock: setup  ## requirements.in -> requirements.txt
	@python -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip install --quiet pip-tools==7.6.2
	@CUSTOM_COMPILE_COMMAND="make lock" $(VENV)/lock/bin/pip-compile --quiet --strip-extras --allow-unsafe \
		--no-emit-index-url --no-emit-find-links --no-emit-options --no-emit-trusted-host \
		--output-file=requirements.txt requirements.in
	@sed -i -E 's/^(torch==[0-9.]+)\+[a-z0-9.]+$$/\1/' requirements.txt
