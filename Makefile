# make demo    set up, then a first result: four transports on a walk between two access points; ends with the path of its page
# make dev     set up with an incremental build that is not fully optimised: after an edit, the way back to pytest
# make test    set up, then all tests
# make fuzz    mutated scenarios for ten minutes (FUZZ_SECONDS), with another seed each time; `make test` has 20 s of it
# make lint    formats, lints and types, Rust and Python; the crates' documentation; the prose of pages and messages
# make generated  write the Python and JSON anew that metrics.toml and the schema of scenarios say
# make docs    the documentation as a site in results/site, with the gallery and the crates' API; works offline
# make figures draw the documentation's figures again, and run its notebook
# make findings  execute what docs/findings lacks numbers of, and write its pages; AGAIN=--again executes all, in ten minutes
# make bench   benchmarks; numbers and commands stand in docs/performance.md. HTSIM=PATH, a copy of the source of
#              Broadcom/csg-htsim, has that simulator take part
# make counts  the instructions of some runs, counted by callgrind, against those that are kept; `make new-counts` keeps
#              them anew
# make validate  the same runs in ns-3 and ns-2, beside ours; writes docs/validation.md
# make references  run every study in short and in full, and make the results their reference
# make wheel   a wheel in dist/, optimised by what runs of benches/training.py do, and a look whether it works in an
#              environment without cargo. It needs `rustup component add llvm-tools`; PGO= builds one without training
# make lock    choose new versions of the Python dependencies
# make clean   remove everything that was built
#
# Set-up happens when it is needed: a virtual environment in .venv, the locked dependencies, the release build of the
# extension module. PYTHON chooses the interpreter (3.11 or newer).

PYTHON ?= python3
BIN := .venv/bin
UV := uv==0.13.9
INSTALL := VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv pip install --quiet
MATURIN := VIRTUAL_ENV=$(CURDIR)/.venv PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin develop --quiet --locked
# Without the features of pyproject.toml: TLS takes half a minute to compile.
QUICK := --profile quick --features ''
PGO := --pgo
RUSTDOC := RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet
SAY := @printf '\n=== %s\n'

RUST := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)

.DEFAULT_GOAL := help
.PHONY: help setup dev demo test test-rust test-python fuzz lint lint-rust lint-python generated docs figures findings bench counts new-counts validate references wheel lock clean

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

setup: .venv/built

# The program that installs, and the one that builds; what they install and build goes on side by side.
.venv/tools: requirements.lock
	$(SAY) 'Setting up: a virtual environment in .venv'
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; this is " + sys.version.split()[0])'
	@command -v cargo >/dev/null || { echo 'cargo is needed to build the simulator: https://rustup.rs' >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)
	$(INSTALL) --constraint requirements.lock maturin
	@touch $@

.venv/dependencies: .venv/tools
	$(SAY) 'Installing: the locked dependencies'
	$(INSTALL) --require-hashes -r requirements.lock
	@touch $@

.venv/compiled: .venv/tools $(RUST)
	$(SAY) 'Building: the extension module with full optimisation (some minutes the first time)'
	$(MATURIN) --release --skip-install
	@touch $@

.venv/built: .venv/dependencies .venv/compiled
	$(MATURIN) --release --uv
	@touch $@

# A developer's build. Results are those of the full build, to the bit; `make setup` makes that one anew.
.PHONY: compiled-quick
compiled-quick: .venv/tools
	$(SAY) 'Building: the extension module, incrementally, without full optimisation'
	@rm -f .venv/compiled
	$(MATURIN) $(QUICK) --skip-install

dev: .venv/dependencies compiled-quick
	$(MATURIN) $(QUICK) --uv

# Whichever build is there; a developer's, which is sooner ready, where none is.
.PHONY: some-build
some-build:
	@$(MAKE) --question .venv/built 2>/dev/null || $(MAKE) --jobs=2 --no-print-directory dev

demo: some-build
	@$(BIN)/roamsim demo --out results/demo

docs: some-build
	$(SAY) 'Running: the examples, for the gallery'
	$(BIN)/python docs/gallery.py
	$(SAY) 'Building: the documentation of the Rust crates'
	$(RUSTDOC)
	$(SAY) 'Building: the site'
	$(BIN)/sphinx-build -W --keep-going --quiet --jobs=2 -b html -c docs . results/site
	@rm -rf results/site/rust && cp -R target/doc results/site/rust
	@printf '\nThe site: %s\n' "$(CURDIR)/results/site/index.html"

test: test-rust test-python

# Needs no set-up, and may go on beside it: the last of what that builds takes one processor alone.
test-rust:
	$(SAY) 'Testing: the Rust crates'
	cargo test --workspace --locked --quiet

test-python: setup
	$(SAY) 'Testing: the command line, the Python package, the documentation, from a user'"'"'s side'
	$(BIN)/python -m pytest -q -n auto --dist loadscope --no-loadscope-reorder

FUZZ_SECONDS ?= 600
FUZZ_SEED ?= $(shell date +%s)

fuzz: setup
	$(SAY) 'Fuzzing: whole scenarios, mutated; $(FUZZ_SECONDS) s, seed $(FUZZ_SEED)'
	ROAMSIM_FUZZ_SECONDS=$(FUZZ_SECONDS) ROAMSIM_FUZZ_SEED=$(FUZZ_SEED) \
		cargo test -p roamsim-scenario --test fuzz --locked --quiet -- --nocapture
	$(SAY) 'Fuzzing: damaged folders of results, and command lines; $(FUZZ_SECONDS) s, seed $(FUZZ_SEED)'
	$(BIN)/python tests/fuzz_results.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

lint: lint-rust lint-python

lint-rust:
	$(SAY) 'Checking: formats and lints of Rust'
	cargo fmt --all --check
	rustfmt --check $(wildcard crates/protocols/src/tcp/congestion/*.rs crates/protocols/src/tcp/congestion/*/mod.rs \
		crates/protocols/src/tcp/detection/*.rs crates/protocols/src/tcp/recovery/*.rs)
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(RUSTDOC)

lint-python: setup
	$(SAY) 'Checking: formats, lints and types of Python'
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest roamsim._roamsim
	$(SAY) 'Checking: the prose of pages and messages'
	$(BIN)/python docs/prose.py

generated: setup
	$(SAY) 'Generating: typed tables and typed scenarios'
	$(BIN)/python -m generators

figures: setup
	$(SAY) 'Drawing: docs/images'
	$(BIN)/python docs/figures/fall_floyd.py
	$(BIN)/python docs/figures/queue_delays.py
	$(BIN)/python docs/figures/window_shapes.py
	$(BIN)/python docs/figures/walk.py
	$(BIN)/python docs/figures/lecture.py
	$(BIN)/python docs/figures/layers.py
	$(BIN)/python docs/figures/layers_studies.py
	$(BIN)/python docs/figures/tcp_sender.py
	$(BIN)/python docs/figures/notebook.py

findings: some-build
	$(SAY) 'Executing: the commands of docs/findings'
	$(BIN)/python docs/findings/measure.py $(AGAIN)

bench: setup
	$(SAY) 'Measuring: the event queue alone'
	cargo bench -p roamsim-engine --bench queue --locked --quiet -- --noplot
	$(SAY) 'Measuring: TCP and SCTP alone, two ends back to back'
	cargo bench -p roamsim-protocols --bench tcp --locked --quiet -- --noplot
	cargo bench -p roamsim-protocols --bench sctp --locked --quiet -- --noplot
	$(SAY) 'Measuring: one bulk flow over a wired link, TCP beside SCTP'
	cargo bench -p roamsim-scenario --bench bulk --locked --quiet -- --noplot
	$(SAY) 'Measuring: DECT, the MAC alone and with TCP both ways'
	cargo bench -p roamsim-network --bench dect --locked --quiet -- --noplot
	cargo bench -p roamsim-scenario --bench dect --locked --quiet -- --noplot
	$(SAY) 'Measuring: calls from Python, and a scenario of a thousand flows'
	$(BIN)/python -m benches.calls
	$(SAY) 'Measuring: whole scenarios beside ns-3, ns-2 and htsim, where they are (some ten minutes)'
	$(BIN)/python -m benches.compare --json results/bench.json $(if $(HTSIM),--htsim '$(HTSIM)')

counts: setup
	$(SAY) 'Counting: the instructions of some runs, against benches/counts.json'
	@$(BIN)/python -m benches.counts

new-counts: setup
	$(SAY) 'Counting: the instructions of some runs, to be kept in benches/counts.json'
	@$(BIN)/python -m benches.counts --renew

validate: setup
	$(SAY) 'Comparing: the same runs in Roamsim, ns-3 and ns-2, where they are (some minutes)'
	$(BIN)/python -m validation.compare --json results/validation.json --update docs/validation.md
	$(BIN)/python -m validation.queues --update docs/validation.md
	$(BIN)/python -m validation.wifi --update docs/validation.md
	$(BIN)/python -m validation.wimax --update docs/validation.md
	$(BIN)/python -m validation.coexistence --update docs/validation.md
	$(BIN)/python -m validation.noq --update docs/validation.md
	cargo test -q -p roamsim-protocols --lib bbr::tests::cases -- --nocapture --test-threads=1

references: setup
	$(SAY) 'Running: every study, in short and in full (an hour on two processors); version control shows what moved'
	for study in $(patsubst studies/%/study.toml,%,$(wildcard studies/*/study.toml)); do for level in --quick ''; do \
		$(BIN)/roamsim study compare $$study $$level --out results/reference-$$study$$level --update || exit 1; \
	done; done

wheel: setup
	$(SAY) 'Building: a wheel in dist/'
	$(BIN)/maturin build --release --locked --strip --quiet $(PGO) --out dist
	$(SAY) 'Trying: the wheel in an environment of its own, without cargo'
	$(BIN)/python tests/try_wheel.py dist

lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet uv
	.venv-lock/bin/uv pip compile pyproject.toml --extra dev --universal --generate-hashes --upgrade \
		--no-annotate --no-header --no-emit-index-url --no-emit-find-links --quiet --output-file requirements.lock
	rm -rf .venv-lock

clean:
	rm -rf .venv .venv-lock target results dist docs/gallery .pytest_cache .ruff_cache .mypy_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/roamsim/_roamsim.*.so
