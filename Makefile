# `make run` opens the dashboard, `make test` passes; both set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Compiled files are kept: tests start hundreds of commands, which would each compile the program.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: soak run test lint check answers tenth bench fuzz mutants pythons format package clean

run: $(VENV)/run.stamp
	$(BIN)/streamlit run app.py

# A file of tests stays with a worker, so that what its tests share is computed once.
test: $(VENV)/dev.stamp
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# Every tenth kept answer is given again; `make answers` gives all of them.
check: lint test tenth

answers: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.answers compare $(ARGS)

tenth: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.answers compare --every 10

# These have targets of their own.
AT_LENGTH := benchmarks/faults.py benchmarks/mutants.py benchmarks/image_lock.py benchmarks/removed_answers.py

bench: $(VENV)/dev.stamp
	for file in $(filter-out $(AT_LENGTH),$(wildcard benchmarks/*.py)); do $(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; done

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# A wheel and a source package in dist/; then the wheel alone, in an empty environment.
package: $(VENV)/dev.stamp
	rm -rf dist
	$(BIN)/python -m build
	ADVISOR_EMPTY_VENV=1 $(BIN)/pytest tests/test_package.py

clean:
	rm -rf $(VENV)

# pip would compile on a single core. Files of packages that are templates do not compile.
define install
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -r $(1)
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null || true
	touch $@
endef

$(BIN)/pip:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is %d.%d." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: requirements.txt | $(BIN)/pip
	$(call install,requirements.txt)

$(VENV)/dev.stamp: requirements-dev.txt requirements.txt | $(BIN)/pip
	$(call install,requirements-dev.txt)

fuzz: $(VENV)/dev.stamp
	ADVISOR_FUZZ=100000 $(BIN)/pytest -n 2 --timeout 0 tests/model/gguf/test_gguf_fuzz.py tests/properties/test_damaged_input.py
	ADVISOR_FUZZ=500 $(BIN)/pytest -n 2 --timeout 0 --dist load tests/properties/test_one_thing_changed.py tests/properties/test_stability.py

# A table: what was done to the program, how often, and how often it held.
soak: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.faults
	$(BIN)/python -m benchmarks.removed_answers
	$(BIN)/python -m benchmarks.visitors memory replicas
	ADVISOR_SOAK=1 $(BIN)/pytest tests/lab/test_fitting.py tests/test_walkthroughs.py

# Small errors put into cost, placement, schedule, money and requests: the share that tests notice.
mutants: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.mutants $(ARGS)

# All tests but those of a browser on each other Python that is installed, in environments of their own.
PYTHONS ?= python3.12 python3.13 python3.14
pythons:
	for python in $(PYTHONS); do \
		$$python -c '' 2>/dev/null || { echo "$$python is not installed."; continue; }; \
		$(MAKE) test VENV=.venv-$$(basename $$python) PYTHON=$$python ARGS="--ignore tests/browser" || exit 1; \
	done
