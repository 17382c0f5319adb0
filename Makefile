# Everything runs in a local virtual environment, made on first use from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint types check bench bench-unseen reproduce docs docs-quick screenshots simulate fuzz test-oldest mutation install-dev clean
help:
	@echo "make demo       install and show what self-selection does to a screening model (bundled data)"
	@echo "make test       install what the tests need and run them all"
	@echo "make test-oldest  the same with the oldest versions that pyproject.toml allows, in an environment of their own"
	@echo "make mutation   change the code of counting, deciding and judging in small ways, and rewrite docs/mutation.md"
	@echo "make check      lint and types"
	@echo "make bench      run the benchmarks and rewrite benchmarks/results/"
	@echo "make bench-unseen  what is promised and delivered on data that nobody tuned on (fetches them; resumes)"
	@echo "make reproduce  run all experiments of the paper (resumes) and rewrite docs/reproduction*"
	@echo "make docs       build the site: guide, gallery and reference, in docs/_build (docs-quick: without running the examples)"
	@echo "make screenshots  pictures of the four kinds of report for the README (needs chromium)"
	@echo "make simulate   draw 10,000 populations, count the promises that are broken, and rewrite benchmarks/results/promises.md"
	@echo "make fuzz       damage files of every kind, show hostile names in a browser, for minutes; rewrite docs/fuzzing.md"
	@echo "make clean      remove the virtual environment and caches"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

demo: $(VENV)/.installed
	$(BIN)/selfselect demo

TEST_WORKERS ?= 2
# Branches that tests take, at least: all of what counts, decides and judges, and 95% of everything.
CORE = src/selfselect/counting/*,src/selfselect/publishing/*,src/selfselect/behaviour.py,src/selfselect/costs.py,src/selfselect/outcomes.py,src/selfselect/learning/judging.py
test: $(VENV)/.installed-dev
	@tools/install-browser
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --cov --cov-report=
	$(BIN)/coverage report --fail-under=100 --show-missing --skip-covered --include='$(CORE)'
	$(BIN)/coverage report --fail-under=95 --show-missing --skip-covered --skip-empty

# The least versions that pyproject.toml names, with whatever these ask for themselves.
OLDEST := .venv-oldest
test-oldest:
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	$(OLDEST)/bin/uv pip install --python $(OLDEST)/bin/python --resolution lowest-direct --editable '.[dev]'
	$(OLDEST)/bin/python -m pytest -n $(TEST_WORKERS) --dist loadfile

# Changes one thing at a time in the code of these rooms, and lists what no test notices (half an hour on two quiet
# cores; resumes). In an environment of its own: mutmut asks for an older pytest.
MUTATION := .venv-mutation
mutation:
	$(PYTHON) -m venv $(MUTATION)
	$(MUTATION)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' 'mutmut>=3.8,<4' 'pytest<9'
	$(MUTATION)/bin/python tools/mutation.py --workers $(WORKERS) --out docs/mutation.md

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

check: lint types

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/statistics_and_curves.py
	$(BIN)/python benchmarks/learners.py
	$(BIN)/python benchmarks/tolerance.py
	$(BIN)/python benchmarks/audit_file.py
	$(BIN)/python benchmarks/allocation.py
	$(BIN)/python benchmarks/load.py

bench-unseen: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/unseen_data.py --workers $(WORKERS)

RESULTS ?= results
WORKERS ?= 2
# All of the paper's experiments (resumes), then tables, figures and the page. RUN chooses a part: make reproduce
# RUN="--dataset adult --splits 2". Runs that take hours are kept in the repository; reproduction/README.md lists them.
RUN ?=
KEPT = $(addprefix --results ,$(RESULTS) $(wildcard docs/reproduction/*.csv.gz))
reproduce: $(VENV)/.installed-dev
	$(BIN)/python -m reproduction run --results $(RESULTS) --workers $(WORKERS) $(RUN)
	$(BIN)/python -m reproduction tables $(KEPT) --out docs/reproduction
	$(BIN)/python -m reproduction figures $(KEPT) --out docs/reproduction
	$(BIN)/python -m reproduction page $(KEPT) --out docs/reproduction.md

SITE ?= docs/_build
BUILD = $(BIN)/python -m sphinx -W --keep-going -b html docs
# The whole site, examples run (minutes); docs-quick shows them without running them. Warnings are errors.
docs: $(VENV)/.installed-dev screenshots
	MPLBACKEND=Agg $(BUILD) $(SITE)
docs-quick: $(VENV)/.installed-dev
	SELFSELECT_DOCS=quick MPLBACKEND=Agg $(BUILD) -q $(SITE)-quick

screenshots: $(VENV)/.installed-dev
	$(BIN)/python tools/screenshots.py

simulate: $(VENV)/.installed-dev
	SELFSELECT_POPULATIONS=10000 $(BIN)/python -m pytest tests/publishing/test_guarantee.py tests/estimators/test_promising.py
	$(BIN)/python benchmarks/promises.py --workers $(WORKERS)

# So long for each kind; names in the browser need chromium, and are left out without it.
FUZZ_MINUTES ?= 5
FUZZ_SEED ?= 1000000
fuzz: $(VENV)/.installed-dev
	@tools/install-browser
	$(BIN)/python tools/fuzz.py --minutes $(FUZZ_MINUTES) --seed $(FUZZ_SEED) --out docs/fuzzing.md

clean:
	rm -rf $(VENV) $(OLDEST) $(MUTATION) .mutation .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
