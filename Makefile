# Every target sets up what it needs: the virtual environment, its packages, the Rust extension.
# Stamp files keep a second run quick.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo check test test-long test-linux soak mutations bench docs docs-pages build workbench wheel deb deny clean
# Stages of check and test.
.PHONY: rust-tests rust-lint rust-docs
.PHONY: python-lint python-types python-tests kernel determinism validation site check-stages test-stages
.PHONY: page-checks browser packages test-links
# Parts of test-long.
PARTS := laws rust python validation kernel tcp packages
.PHONY: $(PARTS:%=long-%) long-due

VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH):$(HOME)/.cargo/bin
# Another environment that is active where make is called is not the one to install into.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX
# Modules are compiled once, not in each of the hundreds of processes that tests start.
unexport PYTHONDONTWRITEBYTECODE
# Build scripts look for this interpreter: the same one everywhere, so that nothing is built twice.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

RUST := Cargo.toml Cargo.lock $(shell find crates examples -name '*.rs' -o -name Cargo.toml)
LINUX := $(wildcard tests/linux)
QUICK := $(wildcard tests/python tests/equations)
PYTEST := python -m pytest -W error -q
# Tests use a separate build with its own virtual environment (.ci/test-build). The stages named
# here have it first on PATH. The user's build, in .venv and python/lasthop, does not change.
TEST_BUILD := target/test-build
TESTED := $(TEST_BUILD)/.built
python-types python-tests kernel determinism validation site browser: private export PATH := $(CURDIR)/$(TEST_BUILD)/venv/bin:$(PATH)
python-types python-tests kernel determinism validation site browser: private export VIRTUAL_ENV := $(CURDIR)/$(TEST_BUILD)/venv
# One worker a core; kernel tests sleep most of the time, each worker in namespaces of its own.
WORKERS := --numprocesses auto --dist worksteal
SLEEPERS := --numprocesses 3 --dist worksteal
# Without the files of incremental builds, a first build costs a quarter less CPU time.
export CARGO_INCREMENTAL := 0
# Make shares its jobs with makes alone; told of them, cargo asks in vain and says so.
CARGO := env -u MAKEFLAGS -u MFLAGS cargo
# Two stages run at a time, of which the kernel's sleeps for most of its time: with three each of them costs
# more CPU time. Each stage prints in one piece when it ends.
BESIDE := --no-print-directory --jobs=2 --output-sync=target
# Says what a stage took, and notes it for the list at the end.
STAGE := .ci/stage
export STAGES := $(CURDIR)/target/stages

# Another seed for random scenarios on every run; `make test SEED=N` draws the same again.
SEED ?= $(shell date +%s)
SEED := $(SEED)
export SEED
export PROPTEST_RNG_SEED := $(SEED)
# Number of random scenarios; `make test-long PART=laws` uses LONG_SCENARIOS instead.
RANDOM_SCENARIOS ?= 1000
export LASTHOP_RANDOM_SCENARIOS := $(RANDOM_SCENARIOS)

help:
	@echo "make demo       compare a hot-spot's prediction with its simulation: a table and a picture"
	@echo "make test       everything CI runs: make check, documentation, kernel, validation (about 9 minutes)"
	@echo "make check      format, lints, types, unit tests (about 3 minutes once built)"
	@echo "make test-long  what takes longer, in parts: make test-long PART=laws, rust, python, validation, kernel, tcp, packages"
	@echo "make long-due   parts of make test-long whose files have changed since they last passed"
	@echo "make test-linux the gateway and the emulator in the kernel, without a clock (root)"
	@echo "make soak       a gateway for an hour (SOAK_S=3600), with all that happens: nothing grows or stays broken (root)"
	@echo "make mutations  faults of a line in studies and rules: does a test notice? SEED=n draws the same again"
	@echo "make bench      cost and goodput beside ns-2 and ns-3 (installs them) and htsim (LASTHOP_HTSIM=FOLDER); ONLY=growth or large a part"
	@echo "make docs       the documentation site, in site/"
	@echo "make docs-pages writes the generated pages and the outputs shown in README and guides"
	@echo "make wheel      packages for pip in dist/: sdist, wheels for Linux, macOS and Windows; all but those for macOS are tested (rustup, root)"
	@echo "make deb        packages for Debian in dist/, for a gateway; that for amd64 is tested (rustup, root)"
	@echo "make deny       licences and sources of all crates, by cargo-deny (cargo install --locked cargo-deny)"
	@echo "make build      the virtual environment with lasthop in it; make clean removes everything built"

$(VENV)/.created: .ci/bootstrap
	@.ci/bootstrap $(VENV)
	@touch $@

# Modules are compiled when they are first imported: most never are.
$(VENV)/.installed: $(VENV)/.created requirements.lock
	@echo "installing packages (the first time this takes a minute or two)"
	@$(STAGE) "install packages" $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --requirement requirements.lock
	@touch $@

# Editable: Python sources are used in place, so only Rust sources and metadata need this step.
$(VENV)/.built: $(VENV)/.installed pyproject.toml Cargo.toml $(RUST)
	@echo "building the extension (the first time this takes some minutes)"
	@$(BIN)/maturin develop --release --quiet > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@touch $@

$(TESTED): .ci/test-build $(VENV)/.installed pyproject.toml $(RUST)
	@$(STAGE) "build the extension" .ci/test-build
	@touch $@

# Links the sources again in each run: files may have been added or removed since the build.
test-links: $(TESTED)
	@.ci/test-links

$(VENV)/.rust-tests: $(TESTED)
	@$(STAGE) "build Rust's tests" $(CARGO) test --workspace --no-run --quiet
	@touch $@

# A target that stages depend on: packages must not change while a stage uses them.
$(VENV)/.documenting: $(VENV)/.installed docs/requirements.txt
	@$(STAGE) "install what docs need" $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --requirement docs/requirements.txt
	@touch $@

# The workbench's page: where Node or Rust's target is missing a line says so, and the rest works.
PAGE := target/workbench.built
PAGE_SOURCES := $(shell find workbench -name node_modules -prune -o -type f -print) Cargo.toml Cargo.lock \
	$(shell find crates/engine/src crates/explain crates/wasm -type f) crates/engine/tests/frozen/schema.json \
	python/lasthop/explanation/terms.toml

$(PAGE): $(PAGE_SOURCES)
	@mkdir -p target
	@$(STAGE) "build the page" workbench/build

workbench: $(PAGE)

build: $(VENV)/.built
	@$(MAKE) --no-print-directory --question workbench 2> /dev/null || workbench/build || test $$? = 2

wheel: build
	@$(STAGE) "build sdist and wheels" packaging/wheels $(if $(RELEASE),--release)
	@$(STAGE) "test x86_64" packaging/try-wheel
	@$(STAGE) "test aarch64" packaging/try-aarch64
	@$(STAGE) "test Windows" packaging/try-windows
	@$(STAGE) "test the browser's engine" packaging/same-results browser

deb: build
	@$(STAGE) "build sdist and wheels" packaging/wheels $(if $(RELEASE),--release) linux-x86_64 linux-aarch64
	@$(STAGE) "build and test the .deb" packaging/deb

# Needs cargo-deny, which CI does not install.
deny:
	@$(CARGO) deny check licenses bans sources

demo: build
	@mkdir -p out
	$(BIN)/lasthop compare examples/hotspot.toml --out out
	@echo "to use the lasthop command in this shell, run: . $(BIN)/activate"

# The graph: cargo's own steps wait for its lock, so they follow one another; the rest is beside them.
check: $(VENV)/.created
	$(call run,check-stages)
test: $(VENV)/.created packages
	$(call run,test-stages)

# Installs the Debian packages that tests need, if run as root.
packages:
	@.ci/packages

# The CPU time of each stage has a limit. Its unit is a calibration before and after the stages.
BUDGET := $(BIN)/python .ci/budget.py
UNIT := target/calibration.json

define run
@mkdir -p target && rm -f $(STAGES) $(UNIT) && date +%s > target/began
@echo "random scenarios are drawn from SEED=$(SEED)"
@$(BUDGET) calibrate $(UNIT)
@$(MAKE) $(BESIDE) $(1) RANDOM_SCENARIOS=$(RANDOM_SCENARIOS) || { $(BUDGET) report $(STAGES) $(UNIT); exit 1; }
@$(BUDGET) calibrate $(UNIT)
@echo "$@: $$(($$(date +%s) - $$(cat target/began))) s, random scenarios drawn from SEED=$(SEED)"
@$(BUDGET) report $(STAGES) $(UNIT)
endef

check-stages: rust-tests rust-lint rust-docs python-lint python-types python-tests
test-stages: kernel check-stages page-checks site browser determinism validation

# Fewer cases of each property than proptest's default of 256, which `make test-long PART=rust`
# runs.
rust-tests: export PROPTEST_CASES := 64
rust-tests: $(VENV)/.rust-tests
	@$(STAGE) $@ $(CARGO) test --workspace --quiet

rust-lint: $(VENV)/.rust-tests
	@$(STAGE) $@ sh -c '$(CARGO) fmt --all --check && $(CARGO) clippy --workspace --all-targets --quiet -- -D warnings'

rust-docs: rust-lint
	@RUSTDOCFLAGS="-D warnings" $(STAGE) $@ $(CARGO) doc --workspace --no-deps --document-private-items --quiet

python-lint: $(VENV)/.installed
	@$(STAGE) $@ sh -c 'ruff format --check --quiet . && ruff check --quiet . && python .ci/prose.py'

python-types: test-links
	@$(STAGE) $@ sh -c 'mypy && cd $(TEST_BUILD)/stub && MYPYPATH=. PYTHONPATH=. stubtest --concise _core'

python-tests: test-links $(VENV)/.documenting
	@$(STAGE) $@ $(PYTEST) $(WORKERS) $(QUICK)

kernel: test-links $(VENV)/.documenting
	@$(STAGE) $@ $(PYTEST) $(SLEEPERS) $(LINUX)

determinism: test-links $(VENV)/.rust-tests $(VENV)/.documenting $(PAGE)
	@$(STAGE) $@ $(PYTEST) $(WORKERS) tests/determinism

validation: test-links $(VENV)/.documenting
	@$(STAGE) $@ $(PYTEST) $(WORKERS) tests/validation

site: test-links $(VENV)/.documenting $(PAGE)
	@$(STAGE) $@ .ci/docs $(TEST_BUILD)/venv/bin/python

# Types and tests of the page. Then the names in all languages, which need the parsers of Rust and of
# TypeScript.
page-checks: $(PAGE) $(VENV)/.rust-tests
	@$(STAGE) $@ sh -c 'cd workbench && npm run --silent check && npm test --silent && cd .. && env -u MAKEFLAGS -u MFLAGS python .ci/names.py'

browser: $(PAGE) test-links $(VENV)/.documenting
	@$(STAGE) $@ $(PYTEST) $(WORKERS) tests/workbench

test-linux: kernel

SOAK_S ?= 3600
soak: build
	@$(BIN)/python tests/linux/soak.py --seconds $(SOAK_S)

mutations: build $(VENV)/.documenting
	@$(BIN)/python tests/mutations/mutations.py --seed $(SEED)

# Parts run one after another: measurements on a quiet machine, all other tests on all cores. A
# failure between `begin` and `passed` ends make, so that .ci/long.toml records only parts that
# passed.
LONG := $(BIN)/python .ci/long.py
LONG_SCENARIOS := 2000000

test-long:
	$(if $(filter-out $(PARTS),$(PART)),$(error PART=$(PART): no such part: expected $(PARTS)))
	@$(foreach part,$(or $(PART),$(PARTS)),$(MAKE) --no-print-directory long-$(part) &&) true

# A skipped test fails in them too.
$(PARTS:%=long-%): export CI := true

long-due: $(VENV)/.created
	@$(LONG) due

long-laws: $(VENV)/.created
	@$(LONG) begin laws
	@LASTHOP_RANDOM_SCENARIOS=$(LONG_SCENARIOS) $(STAGE) $@ $(CARGO) test --release --package lasthop-engine --test suite laws::
	@$(LONG) passed laws

long-rust: build
	@$(LONG) begin rust
	@$(STAGE) $@ $(CARGO) test --workspace --release -- --include-ignored
	@$(STAGE) "lint without optional parts" $(CARGO) clippy --package lasthop-python --no-default-features --quiet -- -D warnings
	@$(STAGE) "build the release example" $(CARGO) build --release --quiet --package lasthop-engine --example summary
	@$(STAGE) "instructions" $(BIN)/python bench/instructions.py --short
	@$(LONG) passed rust

long-python: build packages $(VENV)/.documenting
	@$(LONG) begin python
	@$(STAGE) $@ $(PYTEST) $(WORKERS) -m "slow or smoke" tests/python tests/determinism
	@$(LONG) passed python

long-validation: build packages $(VENV)/.documenting
	@$(LONG) begin validation
	@$(STAGE) $@ $(PYTEST) $(WORKERS) -m "slow or smoke" tests/validation tests/equations
	@$(LONG) passed validation

# Measured tests run one at a time, or in pairs if each needs less than a processor
# (tests/linux/conftest.py).
long-kernel: build packages $(VENV)/.documenting
	@$(LONG) begin kernel
	@$(STAGE) "$@, slow" $(PYTEST) --numprocesses 4 --dist worksteal -m "slow and not measured" $(LINUX)
	@$(STAGE) "$@, measured" $(PYTEST) --durations=20 --numprocesses 2 --dist worksteal -m measured $(LINUX)
	@$(LONG) passed kernel

# Compares Linux's TCP with the engine's; points that have been run before are not run again.
long-tcp: build
	@$(LONG) begin tcp
	@$(STAGE) $@ $(BIN)/python bench/kernel_tcp.py --long-part --budget-minutes 15
	@$(LONG) passed tcp

# Checks the crates that macOS and Windows use, and builds and tests the wheels.
long-packages: build
	@$(LONG) begin packages
	@$(STAGE) "check for other systems" packaging/check-targets
	@$(MAKE) --no-print-directory wheel
	@$(LONG) passed packages

bench: build
	$(BIN)/python bench/run.py $(if $(ONLY),--only $(ONLY))

docs: build $(VENV)/.documenting
	.ci/docs

docs-pages: build
	$(BIN)/python docs/refresh.py

clean:
	for machine in $(CURDIR)/target/packaging/machines/*; do [ ! -e "$$machine" ] || packaging/clear "$$machine"; done
	rm -rf $(VENV) target out site dist bench/out python/lasthop/*.so
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
