# The commands of this repository; `make help` lists them.
#
# Each makes its own virtual environment in .venv, from the exact versions in constraints.txt, and installs
# nothing outside this folder. Written for GNU make 3.81 and newer; the folder's path must hold no spaces.

PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet

# As variables rather than options, so that they reach the environments in which pip builds packages, too.
export PIP_CONSTRAINT = $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT = $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK = 1

HAVE_JAVA = PYTHONPATH=pipeline $(BIN)/python -m pqassay_spark.jobs.java

.DEFAULT_GOAL = help
.PHONY: help demo pipeline test test-fast test-loaded test-elsewhen generate golden recall damages conditions corpus observe upstream drivers matrix matrix-spark docs docs-serve bench release constraints clean

help: ## list these commands
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.made ## write a Parquet file, embed an index, check it, damage it, check again
	@if $(HAVE_JAVA) 2> /dev/null; then $(MAKE) -s --no-print-directory $(VENV)/.spark; \
	else $(MAKE) -s --no-print-directory $(VENV)/.core; fi
	@$(BIN)/python examples/demo.py

pipeline: $(VENV)/.made ## produce, index, check and query 1,000 files with Spark; a kill midway, and a damage
	@$(HAVE_JAVA)
	@$(MAKE) -s --no-print-directory $(VENV)/.pipeline
	@$(BIN)/python -m examples.pipeline

test: $(VENV)/.dev ## run every test and every static check
	@$(BIN)/python tools/run_checks.py

test-fast: $(VENV)/.dev ## run the static checks and tests that take seconds
	@$(BIN)/python tools/run_checks.py --fast

test-loaded: $(VENV)/.dev ## run each test that waits 20 times on a busy machine, in random order; takes hours (LOADED='--part 1/6')
	@$(BIN)/python tools/run_loaded.py $(LOADED)

test-elsewhen: $(VENV)/.dev ## run tests that look at days, zones, languages or permissions as if it were another day and place (ELSEWHEN='--setting "+ 1 day"')
	@$(BIN)/python tools/run_elsewhen.py $(ELSEWHEN)

generate: $(VENV)/.core ## write every file that is computed from others, where it is stale (GENERATE='--check')
	@$(BIN)/python tools/generate.py $(GENERATE)

golden: $(VENV)/.core ## write the golden files again
	@PYTHONPATH=reference_impl $(BIN)/python -m pqassay_golden golden_files

recall: $(VENV)/.core ## measure which false facts are found, for docs/recall.md; then 100,000 random damages
	@$(BIN)/python tools/recall.py $(RECALL)

damages: $(VENV)/.dev ## read all damaged files that the tests describe, 20,000 of each form, and draw and read all others of which `make test` does a part
	@PQASSAY_DAMAGES=all $(BIN)/python -m pytest -q $$(grep -rlE '^from damage import|^ *@given' tests --include 'test_*.py')

conditions: $(VENV)/.dev ## draw 120,000 conditions and compare them with exact arithmetic, and 10,000 over files; `make test` does a part
	@PQASSAY_CONDITIONS=all $(BIN)/python -m pytest -q -o timeout=0 -o faulthandler_timeout=0 tests/reader/condition

corpus: $(VENV)/.pipeline ## judge all Parquet files and tables of a checkout, and compare with what its owners say (DIR=../parquet-testing)
	@[ -n "$(DIR)" ] || { echo "Name a folder: make corpus DIR=../parquet-testing"; exit 2; }
	@$(BIN)/python tools/corpus.py "$(DIR)"

observe: $(VENV)/.made ## ask all engines what they do with golden files that break a rule, run all findings again, and keep the answers
	@$(HAVE_JAVA)
	@$(MAKE) -s --no-print-directory $(VENV)/.pipeline
	@$(BIN)/python tools/observe.py $(OBSERVE)
	@test -n "$(OBSERVE)" || $(BIN)/python tools/run_findings.py
	@$(BIN)/python tools/generate.py observed

upstream: $(VENV)/.core ## compare checkouts of the formats' projects with the pinned texts (CHECKOUT="../parquet-format ../iceberg")
	@test -n "$(CHECKOUT)" || { echo 'Name checkouts: make upstream CHECKOUT="../parquet-format ../iceberg"'; exit 1; }
	@$(BIN)/python tools/upstream.py $(CHECKOUT) $(UPSTREAM)

drivers: $(VENV)/.pipeline ## build the drivers of foreign libraries, as far as this machine has their tools
	@$(BIN)/pqassay suite drivers --build

matrix: drivers ## ask all drivers about all golden files, and keep the results; takes some minutes
	@$(BIN)/python tools/matrix.py $(MATRIX)

matrix-spark: $(VENV)/.spark ## check and index with several releases of Spark, Spark Connect included; takes some minutes
	@$(HAVE_JAVA)
	@$(BIN)/python tools/matrix_spark.py $(MATRIX)

docs: $(VENV)/.docs ## build the site into ./site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir site

docs-serve: docs ## build the site and serve it on http://127.0.0.1:8000 until Ctrl-C
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory site 8000

bench: $(VENV)/.dev ## run the benchmarks
	@failed=; for script in benchmarks/[!_]*.py; do \
	  [ -e "$$script" ] || { echo "There are no benchmarks yet."; continue; }; \
	  echo "== $$script"; $(BIN)/python "$$script" || failed="$$failed $$script"; \
	done; [ -z "$$failed" ] || { echo "Failed:$$failed"; exit 1; }

release: $(VENV)/.dev ## build sdist and wheel into ./dist, try them in a fresh environment, write checksums and notes (RELEASE=--draft)
	@$(BIN)/python tools/release.py $(RELEASE)

constraints: $(VENV)/.made ## rewrite constraints.txt, with the newest versions that pyproject.toml allows
	@echo "Resolving the newest versions ..."
	@$(PYTHON) -m venv --clear $(VENV)/fresh
	@unset PIP_CONSTRAINT PIP_BUILD_CONSTRAINT; $(VENV)/fresh/bin/python -m pip install --quiet \
	  --upgrade --editable '.[spark,engines,sketches,docs,dev]' setuptools wheel
	@{ sed -n '/^#/p' constraints.txt; $(VENV)/fresh/bin/python -m pip freeze --all \
	  --exclude-editable --exclude pip; } > $(VENV)/constraints.txt
	@mv $(VENV)/constraints.txt constraints.txt && rm -rf $(VENV)/fresh

clean: ## remove everything that these commands made
	rm -rf $(VENV) site dist build-demo build-pipeline
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# --------------------------------------------------------------------------------------- the environment
# A stamp file for each set of packages: what is installed is not installed again.

$(VENV)/.made:
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON). Install Python 3.11 or newer."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is `$(PYTHON) --version 2>&1`."; \
	  echo "Name another one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "The module venv does not work (on Debian and Ubuntu: apt-get install python3-venv)."; exit 1; }
	@touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing pqassay into $(VENV) (about 200 MB, once) ..."
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.spark: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing pqassay and Spark into $(VENV) (about 700 MB, once) ..."
	@$(INSTALL) --editable '.[spark]'
	@touch $(VENV)/.core $@

$(VENV)/.pipeline: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing pqassay, Spark and other engines into $(VENV) (about 900 MB, once) ..."
	@$(INSTALL) --editable '.[spark,engines,sketches]'
	@touch $(VENV)/.core $(VENV)/.spark $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing pqassay and what builds its site into $(VENV) (about 250 MB, once) ..."
	@$(INSTALL) --editable '.[docs]'
	@touch $(VENV)/.core $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing pqassay, Spark and all tools into $(VENV) (about 1 GB, once) ..."
	@$(INSTALL) --editable '.[spark,engines,sketches,docs,dev]'
	@touch $(VENV)/.core $(VENV)/.spark $(VENV)/.pipeline $(VENV)/.docs $@
