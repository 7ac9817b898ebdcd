# The verbs. `make run` and `make test` need nothing but git and make on a Debian machine, as root or with sudo.
BUILD  ?= build
PREFIX ?= /usr/local
NINJA  := ninja -C
CMAKE  := cmake -G Ninja -S .

.PHONY: all run test check asan lint format bench fuzz soak install clean deps-build deps-test deps-bench tsan

all: deps-build
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release weft libweft libweft_static --quiet

run: all
	@WEFT=$(BUILD)/release/weft tools/tour

test: deps-test
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release --quiet
	@tools/run-tests $(BUILD)/release

check: test

asan: deps-test
	@$(CMAKE) -B $(BUILD)/asan -DWEFT_SANITIZE=ON >/dev/null
	@$(NINJA) $(BUILD)/asan --quiet
	@tools/run-tests $(BUILD)/asan

lint: deps-test
	@tools/lint $(BUILD)/lint

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

bench: deps-bench
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release weft bench --quiet
	@tools/bench $(BUILD)/release

# A minute a reader by default; CI gives each a few seconds.
FUZZ_SECONDS ?= 60
fuzz: deps-test
	@tools/fuzz $(BUILD)/fuzz $(FUZZ_SECONDS)

# Crashes, partitions, lost messages, failovers of the store: as many seeds as fit into the time.
SOAK_SECONDS ?= 60
soak: deps-test
	@$(CMAKE) -B $(BUILD)/release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(NINJA) $(BUILD)/release soak_test --quiet
	@tools/soak $(BUILD)/release $(SOAK_SECONDS)

install: all
	@$(NINJA) $(BUILD)/release manpages --quiet
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)/release --prefix $(PREFIX)

clean:
	rm -rf $(BUILD)

deps-build:
	@tools/deps build

deps-test:
	@tools/deps build test cluster

deps-bench:
	@tools/deps build test cluster bench
