# Every target sets up what it needs: the virtual environment, its packages, the Rust extension.
# Stamp files keep a second run quick.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-linux test-laws test-instructions test-long check check-rust check-python bench docs docs-pages build clean

VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH):$(HOME)/.cargo/bin
# Build scripts look for this interpreter: the same one everywhere, so that nothing is built twice.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
LONGER := $(wildcard tests/validation tests/determinism)
LINUX := $(wildcard tests/linux)
# Where CI runs as root, a kernel test that is skipped is one that was lost.
KERNEL := $(if $(filter true,$(CI)),$(if $(filter 0,$(shell id -u)),--require-kernel))
QUICK := $(wildcard tests/python tests/equations)
# One worker a core; kernel tests sleep most of the time, each worker in namespaces of its own.
WORKERS := --numprocesses auto --dist worksteal
SLEEPERS := --numprocesses 6 --dist worksteal
# Make shares its jobs with makes alone; told of them, cargo asks in vain and says so.
CARGO := env -u MAKEFLAGS -u MFLAGS cargo
# What runs side by side prints when it is done, each in one piece.
BESIDE := --no-print-directory --jobs=2 --output-sync=target

help:
	@echo "make demo       compare a hot-spot's prediction with its simulation: a table and a picture"
	@echo "make test       everything CI runs: make check, the documentation, the longer suites"
	@echo "make check      format, lints, types, unit tests (ten minutes or so on two cores)"
	@echo "make test-linux real TCP through gateway and emulator (root; three minutes, mostly asleep)"
	@echo "make test-long  hours of random scenarios in minutes of machine time"
	@echo "make bench      cost and goodput beside ns-2 and ns-3 (installs them); ONLY=instructions a part"
	@echo "make docs       the documentation site, in site/"
	@echo "make docs-pages writes the generated pages and the outputs shown in README and guides"
	@echo "make build      the virtual environment with lasthop in it; make clean removes everything built"

$(VENV)/.created: .ci/bootstrap
	@.ci/bootstrap $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created requirements.lock
	@echo "installing packages (the first time this takes a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@touch $@

# Editable: Python sources are used in place, so only Rust sources and metadata need this step.
$(VENV)/.built: $(VENV)/.installed pyproject.toml $(RUST)
	@echo "building the extension (the first time this takes some minutes)"
	@$(BIN)/maturin develop --release --quiet > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@touch $@

build: $(VENV)/.built

demo: build
	@mkdir -p out
	$(BIN)/lasthop compare examples/hotspot.toml --out out

check: check-rust check-python

check-rust: $(VENV)/.installed
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) test --workspace --quiet
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items --quiet

check-python: build
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/stubtest --concise lasthop._core
	$(BIN)/pytest -W error -q $(WORKERS) $(QUICK)

# Beside the extension, whose build keeps one core busy; beside the documentation, which does too.
test: $(VENV)/.installed
	@$(MAKE) $(BESIDE) check-rust build
	@$(MAKE) --no-print-directory check-python
	@$(MAKE) $(BESIDE) docs test-linux
	@$(MAKE) --no-print-directory test-laws
	@$(MAKE) --no-print-directory test-instructions
	$(BIN)/pytest -W error -q $(WORKERS) $(LONGER)

test-linux: build
	$(BIN)/pytest -W error -q $(SLEEPERS) $(KERNEL) $(LINUX)

test-laws: $(VENV)/.installed
	LASTHOP_RANDOM_SCENARIOS=100000 $(CARGO) test --release --quiet --package lasthop-engine --test laws

# The example is linked with the engine that the laws were built with.
test-instructions: $(VENV)/.installed
	$(BIN)/python bench/instructions.py --short

test-long: build
	LASTHOP_RANDOM_SCENARIOS=2000000 $(CARGO) test --release --package lasthop-engine --test laws
	$(CARGO) test --workspace --release -- --ignored
	$(BIN)/pytest -W error -m long tests

bench: build
	$(BIN)/python bench/run.py $(if $(ONLY),--only $(ONLY))

docs: build
	.ci/docs

docs-pages: build
	$(BIN)/python docs/refresh.py

clean:
	rm -rf $(VENV) target out site bench/out python/lasthop/*.so
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
