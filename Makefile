# Everything runs in a local virtual environment, made on first use from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: help demo test test-long check bench docs reproduce simulate fuzz clean
help:
	@echo "make demo       install, and show what self-selection does to a screening model (bundled data)"
	@echo "make test       install what the tests need and run them [TESTS=tests/cli] [EXTRAS=torch: with PyTorch]"
	@echo "make test-long  coverage, oldest versions, mutation, fuzzing, long simulations, golden fits [PARTS='coverage oldest ...']"
	@echo "make check      lint and types"
	@echo "make bench      run the benchmarks and rewrite benchmarks/results/ [BENCHMARKS='learners ...']"
	@echo "make docs       build the site in docs/_build [QUICK=1: without running the gallery]"
	@echo "make reproduce  rewrite docs/reproduction* from kept results [RUN='--dataset adult': run fits first; resumes]"
	@echo "make simulate   simulate promises and intervals (an hour; resumes) and rewrite docs/research/simulations.md [REPEATS=100]"
	@echo "make fuzz       damaged files and hostile names [MINUTES=5 SEED=1000000]"
	@echo "make clean      remove environments, caches and artefacts"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

# An extra that is too large for every machine, in the versions of its constraints file.
$(VENV)/.installed-torch: constraints-torch.txt $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $< --editable '.[torch]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/selfselect demo

TESTS ?=
EXTRAS ?=
test: $(VENV)/.installed-dev $(EXTRAS:%=$(VENV)/.installed-%)
	@tools/install-browser
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(TESTS)

PARTS ?= coverage oldest mutation fuzz simulations golden
test-long: $(VENV)/.installed-dev
	PYTHON='$(PYTHON)' BIN='$(BIN)' WORKERS='$(WORKERS)' tools/test-long $(PARTS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# unseen_data takes long, and fetches data; participation needs two packages of data: name them to run them.
BENCHMARKS ?= statistics_and_curves learners margin large allocation load rounds dask_rounds
bench: $(VENV)/.installed-dev
	set -e; for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py; done

# Warnings are errors. A quick build shows the examples of the gallery without running them.
SITE ?= docs/_build
QUICK ?=
docs: $(VENV)/.installed-dev
	$(if $(QUICK),,$(BIN)/python tools/screenshots.py)
	$(if $(QUICK),SELFSELECT_DOCS=quick) MPLBACKEND=Agg $(BIN)/python -m sphinx -W --keep-going -q -b html docs $(SITE)$(if $(QUICK),-quick)

# From kept results, in under a minute. With RUN, fits first what is missing: RUN='--dataset adult --splits 2'.
RESULTS ?= results
RUN ?=
reproduce: $(VENV)/.installed-dev
	$(if $(RUN),$(BIN)/python -m reproduction run --results $(RESULTS) --workers $(WORKERS) $(RUN))
	$(BIN)/python -m reproduction write $(addprefix --results ,$(if $(RUN),$(RESULTS)) $(wildcard docs/reproduction/*.csv.gz)) --out docs

# Finished cells are kept in build/: remove the file after a change of the library. REPEATS=20 is a quick look.
REPEATS ?= 100
SIMULATED := build/simulations-$(REPEATS).csv
simulate: $(VENV)/.installed-dev
	$(BIN)/python -m simulations run --repeats $(REPEATS) --workers $(WORKERS) --out $(SIMULATED)
	cp $(SIMULATED) docs/research/simulations.csv
	$(BIN)/python -m simulations page --results docs/research/simulations.csv --out docs/research/simulations.md

MINUTES ?= 5
SEED ?= 1000000
fuzz: $(VENV)/.installed-dev
	@tools/install-browser
	$(BIN)/python tools/fuzz.py --minutes $(MINUTES) --seed $(SEED) --out build/fuzzing.md

clean:
	rm -rf $(VENV) .venv-* .mutation build .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build*
