# Everything runs in a local virtual environment, made on first use from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint types check bench bench-unseen reproduce reproduction-tables reproduction-figures reproduction-page reproduce-promises reproduce-descent reproduce-splits experiments experiment-push experiment-rates experiment-starts experiment-weights docs docs-quick screenshots simulate kill-test store-test fuzz test-oldest mutation install-dev clean
help:
	@echo "make demo       install and show what self-selection does to a screening model (bundled data)"
	@echo "make test       install what the tests need and run them all"
	@echo "make test-oldest  the same with the oldest versions that pyproject.toml allows, in an environment of their own"
	@echo "make mutation   change the code of counting, deciding and judging in small ways, and rewrite docs/mutation.md"
	@echo "make check      lint and types"
	@echo "make bench      run the benchmarks and rewrite benchmarks/results/"
	@echo "make bench-unseen  what is promised and delivered on data that nobody tuned on (fetches them; resumes)"
	@echo "make reproduce  run all experiments of the paper (resumes) and rewrite docs/reproduction*"
	@echo "make reproduce-promises  the same, after a sweep of what methods promise and what they deliver"
	@echo "make reproduce-descent  run the paper's own descent (hours; resumes) for the page"
	@echo "make reproduce-splits   run our learners on splits 10 to 49 (an hour; resumes) for the page"
	@echo "make experiments        run the experiments on parity and order (hours; resumes) for the page"
	@echo "make docs       build the site: guide, gallery and reference, in docs/_build (docs-quick: without running the examples)"
	@echo "make screenshots  pictures of the four kinds of report for the README (needs chromium)"
	@echo "make simulate   draw 10,000 populations, count the promises that are broken, and rewrite benchmarks/results/promises.md"
	@echo "make kill-test  kill a sweep 20 times at random moments and check that nothing is lost"
	@echo "make store-test flip many bits of a store, and tell long stories of two sweeps on one (minutes)"
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

STORE ?= results.sqlite
WORKERS ?= 2
# Runs that take long are kept in the repository as tables of counts, and shown beside what is run here.
BESIDE = $(addprefix --beside ,$(wildcard docs/reproduction/*.csv.gz))
reproduce: $(VENV)/.installed-dev
	$(BIN)/selfselect reproduce --store $(STORE) --workers $(WORKERS)
	$(MAKE) --jobs $(WORKERS) reproduction-tables reproduction-figures reproduction-page
reproduction-tables: $(VENV)/.installed-dev
	$(BIN)/selfselect tables --store $(STORE) $(BESIDE) --out docs/reproduction --force
reproduction-figures: $(VENV)/.installed-dev
	$(BIN)/selfselect figures --store $(STORE) $(BESIDE) --out docs/reproduction --force
reproduction-page: $(VENV)/.installed-dev
	$(BIN)/selfselect page --store $(STORE) $(BESIDE) --out docs/reproduction.md --force

# Methods that publish on unseen people; those of the paper on the same splits are kept by reproduce-splits.
HONEST = $(addprefix --method ,naive_honest semi_honest strat_x_honest strat_no_group_honest thresholds_lr thresholds_gb thresholds_both)
reproduce-promises: $(VENV)/.installed-dev
	$(BIN)/selfselect reproduce --promises --store $(STORE) --workers $(WORKERS)
	$(BIN)/selfselect export --store $(STORE) $(HONEST) --out docs/reproduction/promises.csv.gz --force
	$(MAKE) reproduce STORE=$(STORE) WORKERS=$(WORKERS)

# The paper's own training, cheap methods first; the costs of its main table come before the others.
DESCENT_STORE ?= descent.sqlite
DESCEND = $(BIN)/selfselect reproduce --store $(DESCENT_STORE) --workers $(WORKERS)
STRATEGIC = --method strat_x_descent --method strat_no_group_descent --method strat_parity_descent
reproduce-descent: $(VENV)/.installed-dev
	$(DESCEND) --method naive_descent --method semi_descent
	$(DESCEND) --dataset adult $(STRATEGIC) --cost 0.7 --cost 0.8
	$(DESCEND) --dataset bank_30 $(STRATEGIC) --cost 0.7 --cost 0.8
	$(DESCEND) --dataset adult $(STRATEGIC)
	$(BIN)/selfselect export --store $(DESCENT_STORE) --out docs/reproduction/descent.csv.gz --force

# Splits that nobody looked at when constants were chosen; and later ones, for what was improved because of these.
SPLITS_STORE ?= splits.sqlite
IMPROVED = --method semi --method strat_x --method strat_no_group --method strat_no_group_chosen --method strat_parity
LATER = $(BIN)/selfselect reproduce --splits 20 --store $(SPLITS_STORE) --workers $(WORKERS)
reproduce-splits: $(VENV)/.installed-dev
	$(LATER) --first-split 10
	$(LATER) --first-split 30 --dataset adult --dataset bank_30 $(IMPROVED)
	$(BIN)/selfselect export --store $(SPLITS_STORE) --out docs/reproduction/splits.csv.gz --force

# Experiments on parity and order, one store for all.
EXPERIMENT_STORE ?= experiments.sqlite
EXPERIMENT = $(BIN)/selfselect reproduce --store $(EXPERIMENT_STORE) --workers $(WORKERS) --cost 0.7
EXPORT_EXPERIMENTS = $(BIN)/selfselect export --store $(EXPERIMENT_STORE) --out docs/reproduction/parity.csv.gz --force
WEIGHTS = --method parity_10 --method parity_100 --method parity_1000 --method parity_10000
TOLERANCES = 0.05 0.02 0.01 0.005
RATES = --method rates_relative_0.2 $(foreach kind,absolute relative,$(foreach t,$(TOLERANCES),--method rates_$(kind)_$(t)))
experiments: experiment-push experiment-rates experiment-starts experiment-weights
experiment-push: $(VENV)/.installed-dev
	$(EXPERIMENT) --dataset adult --dataset bank_30 --method strat_parity_unpushed
	$(EXPORT_EXPERIMENTS)
experiment-rates: $(VENV)/.installed-dev
	$(EXPERIMENT) --dataset adult $(RATES)
	$(EXPERIMENT) --dataset bank_30 $(RATES) --splits 3
	$(EXPORT_EXPERIMENTS)
experiment-starts: $(VENV)/.installed-dev
	$(EXPERIMENT) --dataset adult --method strat_parity_one_start $(foreach c,0.65 0.675 0.725 0.75,--cost $c)
	$(EXPORT_EXPERIMENTS)
experiment-weights: $(VENV)/.installed-dev
	$(EXPERIMENT) --dataset adult $(WEIGHTS) --splits 5
	$(EXPERIMENT) --dataset bank_30 $(WEIGHTS) --splits 3
	$(EXPORT_EXPERIMENTS)

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
	SELFSELECT_POPULATIONS=10000 $(BIN)/python -m pytest tests/publishing/test_guarantee.py tests/estimators/test_guarantee.py
	$(BIN)/python benchmarks/promises.py --workers $(WORKERS)

kill-test: $(VENV)/.installed-dev
	$(BIN)/python tools/kill_test.py

FLIPS ?= 20000
STORIES ?= 1000
store-test: $(VENV)/.installed-dev
	SELFSELECT_FLIPS=$(FLIPS) SELFSELECT_STORIES=$(STORIES) $(BIN)/python -m pytest --durations=5 tests/reproduction/sweep/test_damage.py tests/reproduction/sweep/test_store_machine.py

# So long for each kind; names in the browser need chromium, and are left out without it.
FUZZ_MINUTES ?= 5
FUZZ_SEED ?= 1000000
fuzz: $(VENV)/.installed-dev
	@tools/install-browser
	$(BIN)/python tools/fuzz.py --minutes $(FUZZ_MINUTES) --seed $(FUZZ_SEED) --out docs/fuzzing.md

clean:
	rm -rf $(VENV) $(OLDEST) $(MUTATION) .mutation .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
