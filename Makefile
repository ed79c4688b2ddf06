# Needs make and a Python of 3.11 or newer; everything else goes into .venv. Another Python: make setup PYTHON=python3.13
PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
# Without compiling at installation it takes half as long; Python compiles what is used at its first import.
INSTALL := -m pip --disable-pip-version-check install --quiet --no-compile
PIP := $(BIN)/python $(INSTALL) -c constraints.txt
# Compile in one process before the tests' workers would all do it at the same time.
COMPILE := -c "import scala40_env.kernels.engine"
PYTEST := -m pytest -n $(JOBS) $(PYTEST_ARGS)
ENVIRONMENTS := $(addprefix tests/test_,$(addsuffix .py,aec check_env imports observation rewards single vector))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo test test-jit test-bounds test-nojit oldest newest lint docs links bench notebooks peers rllib \
        twin clean

help:  ## print this list
	@echo "make TARGET [PYTHON=python3.11] [JOBS=2] [PYTEST_ARGS=...]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

# .made holds the folder that .venv was made in: a copy from elsewhere would go on running the code there.
ifneq ($(shell test -x $(BIN)/python && cat $(VENV)/.made),$(CURDIR))
.PHONY: $(VENV)/.made
endif
$(VENV)/.made:
	@command -v "$(PYTHON)" >/dev/null || \
	  { echo "No '$(PYTHON)' here. Say which Python to use: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; '$(PYTHON)' is $$("$(PYTHON)" -V 2>&1)." \
	         "Say which to use: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -m venv --clear $(VENV) || \
	  { echo "'$(PYTHON)' could not make $(VENV). On Debian and Ubuntu its package python3-venv is needed." >&2; exit 1; }
	@echo "$(CURDIR)" > $@

# The stamps: .core has what running needs; .train and .docs what training and the site need too; .dev all of that and the
# tests' tools.
$(VENV)/.core: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing the core into $(VENV) ..."
	@$(PIP) -e .
	@touch $@

$(VENV)/.train: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing the core and what training needs into $(VENV) ..."
	@$(PIP) -e ".[train]"
	@touch $(VENV)/.core $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing the core and what the site is built with into $(VENV) ..."
	@$(PIP) -e ".[docs]"
	@touch $(VENV)/.core $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing the core and the development tools into $(VENV) ..."
	@$(PIP) -e ".[dev]"
	@touch $(VENV)/.core $(VENV)/.train $(VENV)/.docs $@

setup: $(VENV)/.dev  ## make .venv with all that developing and testing needs

DEMO := experiments/settings/ppo/demo.yaml

demo: $(VENV)/.train  ## the main job: a tournament, a check of its records, two minutes of training, what was learnt
	$(BIN)/scala40 tournament random greedy --seats 4 --preset fisca --out runs/demo --resume
	$(BIN)/scala40 replay runs/demo/records.jsonl.gz --check
	@echo; echo "Two minutes of training, and what was learnt, beside the weights that come with the package:"
	$(BIN)/scala40 train --settings $(DEMO) --out runs/demo-ppo --resume
	$(BIN)/scala40 evaluate runs/demo-ppo/best.npz --against random greedy expert --deals 500
	$(BIN)/scala40 evaluate ppo --against random greedy expert --deals 500
	@echo; echo "It works. A hand to look at:  $(BIN)/scala40 replay runs/demo/records.jsonl.gz --match 1"
	@echo "All commands:  $(BIN)/scala40 --help"

test: lint test-jit test-bounds test-nojit  ## lint, then the tests three times: as is, bounds checked, JIT off

test-jit: setup  ## the tests as is
	@echo "== Tests, 1 of 3: as is"
	@$(BIN)/python $(COMPILE)
	$(BIN)/python $(PYTEST)

test-bounds: setup  ## the tests with bounds checks in the kernels
	@echo "== Tests, 2 of 3: bounds checked"
	@NUMBA_BOUNDSCHECK=1 $(BIN)/python $(COMPILE)
	NUMBA_BOUNDSCHECK=1 $(BIN)/python $(PYTEST) -m "not slow and not once"

test-nojit: setup  ## the tests without the JIT, with the coverage and its gate
	@echo "== Tests, 3 of 3: JIT off, coverage"
	@rm -f .coverage .coverage.*
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run $(PYTEST) -m "not slow and not jit and not once"
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

oldest: VERSIONS = -c constraints-oldest.txt
oldest: $(VENV)/.made  ## the environments' tests with the oldest versions allowed, in .venv-oldest
	$(test-versions)

newest: VERSIONS =
newest: $(VENV)/.made  ## the same with the newest, in .venv-newest
	$(test-versions)

define test-versions
@echo "== Tests of the environments with the $@ versions"
@"$(PYTHON)" -m venv --clear $(VENV)-$@
@$(VENV)-$@/bin/python $(INSTALL) $(VERSIONS) -e . pytest pytest-xdist hypothesis
@$(VENV)-$@/bin/python -m pip list --format=freeze | grep -E '^(gymnasium|pettingzoo|numba|numpy|scipy)='
@$(VENV)-$@/bin/python $(COMPILE)
$(VENV)-$@/bin/python $(PYTEST) -m "not slow and not once" $(ENVIRONMENTS)
endef

lint: setup  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# A warning is an error: a dead link, an unknown anchor, a name in a signature that nothing describes.
SPHINX := $(BIN)/python -m sphinx -q -W --keep-going

docs: $(VENV)/.docs  ## the documentation as a site, build/site/index.html; dead links within it are errors
	$(SPHINX) -b html docs build/site
	@echo "Open build/site/index.html"

links: $(VENV)/.docs  ## ask for every link that leads out of the site; wants a network
	$(SPHINX) -b linkcheck docs build/links

bench: $(VENV)/.core  ## decisions a second of the engine, beside a plain-Python baseline
	$(BIN)/scala40 bench engine

notebooks: setup  ## execute all notebooks in full size, and keep their outputs
	$(BIN)/python -m experiments.notebooks.execute

# Each in an environment of its own, for their versions clash: the last PettingZoo with gin rummy is older than ours.
PEERS := .peers/pettingzoo .peers/rlcard .peers/openspiel
.peers/pettingzoo/.installed: NEEDS := pettingzoo rlcard pygame-ce
.peers/rlcard/.installed: NEEDS := rlcard
.peers/openspiel/.installed: NEEDS := open-spiel

.peers/%/.installed: constraints-peers.txt | $(VENV)/.core
	@echo "Installing $(NEEDS) into .peers/$* ..."
	@$(BIN)/python -m venv --clear .peers/$*
	@.peers/$*/bin/python -m pip --disable-pip-version-check install --quiet --no-compile \
	  -c constraints-peers.txt $(NEEDS)
	@touch $@

peers: $(PEERS:%=%/.installed)  ## what 'scala40 bench peers' plays beside this project, below .peers

# RLlib pins what others may want newer, so it has an environment too.
.rllib/.installed: pyproject.toml constraints.txt | $(VENV)/.made
	@echo "Installing RLlib into .rllib ..."
	@$(BIN)/python -m venv --clear .rllib
	@.rllib/bin/python $(INSTALL) -c constraints.txt -e ".[rllib]" pytest
	@touch $@

rllib: .rllib/.installed  ## RLlib below .rllib, and the test of its example
	.rllib/bin/python -m pytest $(PYTEST_ARGS) tests/experiments/training/test_rllib.py

twin: setup  ## the larger comparison of the kernels with the reference
	$(BIN)/python $(PYTEST) -m slow

clean:  ## remove runs and caches; .venv, .peers and .rllib stay
	rm -rf $(VENV)-oldest $(VENV)-newest runs dist build docs/notebooks .cache .pytest_cache .hypothesis .mypy_cache .ruff_cache .coverage .coverage.* htmlcov
	find . \( -path './$(VENV)*' -o -path ./.peers -o -path ./.rllib \) -prune -o -name __pycache__ -type d -print | xargs rm -rf
