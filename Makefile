# What a person types; each target does its own set-up. Everything real is in CMake and tools/.
.DEFAULT_GOAL := build
.PHONY: build tests demo demo-cc test bench conformance numa-test numa-bench papers adaptive policies fuzzers install clean setup \
        deb tarball wheel packages package-test

PRESET ?= release
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BUILD := build/$(PRESET)
# Options of CMake, such as -DHEARTH_WERROR=ON.
CMAKE_ARGS ?=
FULL := -DHEARTH_TESTS=ON -DHEARTH_BENCH=ON -DHEARTH_FUZZ=ON $(CMAKE_ARGS)

setup:
	@tools/setup

# What a user runs: the command, the library and what it loads into programs. Nothing else.
build: setup
	@tools/build $(PRESET) $(CMAKE_ARGS) -j$(JOBS)

# The programs of the tests, without running them.
tests:
	@tools/setup test
	@tools/build $(PRESET) $(FULL) -j$(JOBS) --target all tests benchmarks fuzzers

test: tests
	@ctest --preset $(PRESET) $(CTEST_ARGS)

fuzzers:
	@tools/setup test
	@tools/build $(PRESET) $(FULL) -j$(JOBS) --target fuzzers

demo-cc: setup
	@tools/setup demo-cc
	@tools/build $(PRESET) -DHEARTH_BTLP=ON $(CMAKE_ARGS) -j$(JOBS)
	@tools/demo-cc --hearth $(BUILD) $(DEMO_CC_ARGS)

demo: build
	@tools/setup bench
	@tools/demo

bench: build
	@tools/setup bench
	bench/run $(BENCH_ARGS)

conformance: build
	@tools/setup conformance
	tests/conformance/run $(CONFORMANCE_ARGS)

numa-test: build
	@tools/setup numa
	tests/numa/run test --hearth $(BUILD) $(NUMA_ARGS)

numa-bench: build
	@tools/setup numa
	tests/numa/run bench --hearth $(BUILD) $(NUMA_ARGS)

papers: setup
	@tools/build $(PRESET) -DHEARTH_BENCH=ON $(CMAKE_ARGS) -j$(JOBS) --target papers
	@bench/papers/run --program $(BUILD)/bin/papers $(PAPERS_ARGS)

adaptive: setup
	@tools/build $(PRESET) -DHEARTH_BENCH=ON $(CMAKE_ARGS) -j$(JOBS) --target adaptive
	@bench/adaptive/run --program $(BUILD)/bin/adaptive $(ADAPTIVE_ARGS)

policies: setup
	@tools/build $(PRESET) -DHEARTH_BENCH=ON $(CMAKE_ARGS) -j$(JOBS) --target policies
	@bench/policies/run --program $(BUILD)/bin/policies $(POLICIES_ARGS)

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

# Packages: packaging/README.md. They are built from a copy of this tree, into build/packages.
deb tarball wheel: setup
	@tools/setup packages
	@nice packaging/package $@

packages: setup
	@tools/setup packages
	@nice packaging/package source tarball wheel sbom recipes deb

# Tries every package that is in build/packages, in clean systems; needs root and network.
package-test:
	@tools/setup packages
	packaging/tests/run $(PACKAGE_ARGS)

clean:
	rm -rf build
