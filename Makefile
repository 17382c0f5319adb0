# Everything runs in a local virtual environment, made on first use from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint types check bench install-dev clean
help:
	@echo "make demo    install and show what self-selection does to a screening model (bundled data)"
	@echo "make test    install what the tests need and run them all"
	@echo "make check   lint and types"
	@echo "make bench   run the benchmarks and rewrite benchmarks/results/"
	@echo "make clean   remove the virtual environment and caches"

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

test: $(VENV)/.installed-dev
	@tools/install-browser
	$(BIN)/python -m pytest

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

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
