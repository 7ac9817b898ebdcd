# The verbs. `make run` and `make test` need nothing but git and make on a Debian machine, as root or with sudo.
BUILD  ?= build
PREFIX ?= /usr/local
NINJA  := ninja -C
CMAKE  := cmake -G Ninja -S .
# What we build for ourselves treats warnings as errors; a stranger's newer compiler may warn of more.
DEVELOPER := -DWEFT_WERROR=ON

.PHONY: all program help run test check asan tsan lint lint-quick lint-deep format bench bench-page fuzz soak soak-real wishes nightly abi install clean deps deps-build deps-test deps-bench

all: program ## build the program and the library (installs nothing; `make deps` does)
	@$(NINJA) $(BUILD)/release libweft libweft_static --quiet

program:
	@tools/deps --check build
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(UNITY) >/dev/null
	@ln -sf $(BUILD)/release/compile_commands.json compile_commands.json
	@$(NINJA) $(BUILD)/release weft page --quiet

help: ## this list
	@awk -F ':[^#]*## ' '/^[a-z-]+:[^#]*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

deps: deps-build ## install what the build needs, by name, from Debian

# Who only wants to see it waits a third less for the compiler; who has built already keeps what he has.
run: UNITY = $(if $(wildcard $(BUILD)/release/CMakeCache.txt),,-DWEFT_UNITY=ON)
run: deps-build program ## install, build, then plan, simulate and run real workflows and draw pictures
	@WEFT=$(BUILD)/release/weft tools/tour

test: deps-test ## install what the tests need, and run them all; TESTS='-R ^sim/' runs some
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release --quiet
	@tools/run-tests $(BUILD)/release $(TESTS)

check: test

asan: deps-test ## the tests under the address and undefined-behaviour sanitizers
	@$(CMAKE) -B $(BUILD)/asan -DWEFT_SANITIZE=address $(DEVELOPER) >/dev/null
	@$(NINJA) $(BUILD)/asan --quiet
	@tools/run-tests $(BUILD)/asan $(TESTS)

# Everything that has threads; the rest could only find what asan finds, ten times slower.
TSAN_TESTS ?= -R '^(base|exec|memo|drive|cluster|store|history|session|api)/|^tests/(calls|run|examples|cluster|experiment|stream_items)_test'
tsan: deps-test ## the tests that use threads, under the thread sanitizer
	@$(CMAKE) -B $(BUILD)/tsan -DWEFT_SANITIZE=thread $(DEVELOPER) >/dev/null
	@$(NINJA) $(BUILD)/tsan --quiet
	@TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp halt_on_error=1" tools/run-tests $(BUILD)/tsan $(TSAN_TESTS)

lint: deps-test ## the rules of the house, formatting, headers, gcc's analyzer, clang-tidy
	@tools/lint $(BUILD)/lint

lint-deep: deps-test ## lint, with clang's analyzer to its full depth: half an hour
	@tools/lint --deep $(BUILD)/lint

lint-quick: ## the rules of the house and the formatting only: seconds
	@tools/lint --quick $(BUILD)/lint

format: ## clang-format every source
	@clang-format -i $$(git ls-files '*.c' '*.h')

bench: deps-bench ## benchmarks beside peers, in one run; figures in bench.json
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release weft bench --quiet
	@tools/bench $(BUILD)/release

bench-page: deps-bench ## the page in chromium: every figure of its design beside its goal (some minutes)
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release weft page bench_nothing --quiet
	@WEFT=$(BUILD)/release/weft WEFT_BUILD=$(BUILD)/release WEFT_NOTHING=$(abspath $(BUILD))/release/bench/libbench_nothing.so node bench/page.mjs

# A minute a reader by default; CI gives each a few seconds.
FUZZ_SECONDS ?= 60
fuzz: deps-test ## libFuzzer on every reader, FUZZ_SECONDS each
	@tools/fuzz $(BUILD)/fuzz $(FUZZ_SECONDS)

# Crashes, partitions, lost messages, failovers of the store: as many seeds as fit into the time.
SOAK_SECONDS ?= 60
soak: deps-test ## simulated faults of a cluster, as many seeds as fit into SOAK_SECONDS
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release soak_test --quiet
	@tools/soak $(BUILD)/release $(SOAK_SECONDS)

# On one machine: kill -9, signals, full disks, closed descriptors, small limits, changing inputs, tasks that misbehave. On agents: kills,
# stops, cut and damaged links, damaged copies, a store that dies or forgets, floods of strangers, Slurm. Every byte is compared.
SOAK_ROUNDS ?= 200
soak-real: deps-test ## real runs under faults, SOAK_ROUNDS here, on agents and of streams; SOAK_SEED=... repeats one
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release weft soak_functions stream_functions stayer --quiet
	@WEFT=$(BUILD)/release/weft SOAK_FUNCTIONS=$(abspath $(BUILD))/release/tests/soak_functions.so SOAK_ROUNDS=$(SOAK_ROUNDS) tests/soak/soak_real.py
	@WEFT=$(BUILD)/release/weft SOAK_FUNCTIONS=$(abspath $(BUILD))/release/tests/soak_functions.so SOAK_ROUNDS=$(SOAK_ROUNDS) tests/soak/soak_cluster.py
	@tests/soak/stream_rounds.sh $(abspath $(BUILD))/release/weft $(abspath $(BUILD))/release $(SOAK_ROUNDS)

# Judged by brute force; those that are executed by what tasks note and where agents ran them.
WISHES ?= 500
WISHES_EXECUTED ?= 50
wishes: deps-test ## WISHES random sets of constraints on small graphs, WISHES_EXECUTED of them executed
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release weft --quiet
	@WEFT=$(abspath $(BUILD))/release/weft WISHES=$(WISHES) WISHES_EXECUTED=$(WISHES_EXECUTED) WISHES_TIMED=1 tests/issues/017_wishes_test.sh

nightly: lint-deep tsan soak soak-real fuzz wishes ## what is too long for every commit

abi: all ## record the library's ABI, after a deliberate change (see CONTRIBUTING.md)
	@tools/abi record $(BUILD)/release

install: all ## program, library, headers, pkg-config, man pages, completion below PREFIX
	@$(NINJA) $(BUILD)/release manpages --quiet
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)/release --prefix $(PREFIX)

clean: ## remove what was built
	rm -rf $(BUILD) compile_commands.json

deps-build:
	@tools/deps build page

deps-test:
	@tools/deps build test cluster page

deps-bench:
	@tools/deps build test cluster bench page
