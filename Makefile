# What a person types; each target does its own set-up. Everything real is in CMake and tools/.
.DEFAULT_GOAL := build
.PHONY: build demo test bench conformance numa-test numa-bench papers adaptive install clean setup

PRESET ?= release
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BUILD := build/$(PRESET)

setup:
	@tools/setup

build: setup
	@tools/build $(PRESET) -j$(JOBS)

demo: build
	@tools/demo

test: build
	@ctest --preset $(PRESET) $(CTEST_ARGS)

bench: build
	bench/run $(BENCH_ARGS)

conformance: setup
	@tools/setup conformance
	@tools/build $(PRESET) -j$(JOBS)
	tests/conformance/run $(CONFORMANCE_ARGS)

numa-test: setup
	@tools/setup numa
	@tools/build $(PRESET) -j$(JOBS)
	tests/numa/run test --hearth $(BUILD) $(NUMA_ARGS)

numa-bench: setup
	@tools/setup numa
	@tools/build $(PRESET) -j$(JOBS)
	tests/numa/run bench --hearth $(BUILD) $(NUMA_ARGS)

papers: setup
	@tools/build $(PRESET) -j$(JOBS) --target papers
	@bench/papers/run --program $(BUILD)/bin/papers $(PAPERS_ARGS)

adaptive: setup
	@tools/build $(PRESET) -j$(JOBS) --target adaptive
	@bench/adaptive/run --program $(BUILD)/bin/adaptive $(ADAPTIVE_ARGS)

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build
