# make            install what is missing (once), configure and build the release preset: tools in build/bin
# make demo       train a small GPT under several policies and compare them (TEXT=FILE for another text)
# make check      unit tests and lit, without the slow ones
# make test       run every test; the last line is "N passed, N failed"
# make test-frameworks  the tests that need PyTorch, JAX and their models, in a virtual environment (ALL=1 for every model,
#                       VERSIONS=all for every version of test/Frameworks/versions.txt)
# make bench      measure; writes build/bench/*.json
# make asan       build with address and undefined-behaviour sanitizers and run the lit suite and the unit tests
# make tsan       build the runtime with the thread sanitizer and run its unit tests
# make tidy       clang-tidy by the short list of .clang-tidy, on every file (FILES="a.cpp b.cpp" for some)
# make nightly    what a machine has time for at night: make asan, make tsan, make tidy, a minute of each fuzzer of
#                 bytes, changed files of every kind, the random training programs that show every op replayed, and
#                 what else frameworks and integration have
# make docs       write docs/reference/generated again
# make site       build the pages as a site: build/site/index.html
# make install    PREFIX=FOLDER
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# changed files of each kind in a night
MUTANTS ?= 10000

.PHONY: build demo check test test-frameworks bench asan tsan tidy nightly docs site install clean

build: build/build.ninja
	@cmake --build build -j $(JOBS)

build/build.ninja:
	@utils/install-deps.sh
	cmake --preset release

demo: build/build.ninja
	@cmake --build build -j $(JOBS) --target reprise-zoo reprise-compile reprise-run executed-arena
	@python3 utils/demo.py --build build $(if $(TEXT),--text "$(TEXT)")

check: build
	@python3 utils/run-tests.py build --quick unit lit

test: build
	@python3 utils/run-tests.py build

test-frameworks: build
	@python3 utils/check-frameworks.py build $(if $(ALL),--all) $(if $(VERSIONS),--versions=$(VERSIONS))

bench: build
	@python3 utils/bench/bench.py --build build

asan:
	@test -f build-asan/build.ninja || { utils/install-deps.sh && cmake --preset asan; }
	@cmake --build build-asan -j $(JOBS)
	@python3 utils/run-tests.py build-asan unit lit

tsan:
	@test -f build-tsan/build.ninja || { utils/install-deps.sh && cmake --preset tsan; }
	@cmake --build build-tsan -j $(JOBS) --target RepriseRuntimeTests
	@python3 utils/run-tests.py build-tsan unit

tidy: build
	@python3 utils/tidy.py build --jobs=$(JOBS) $(FILES)

nightly: asan tsan tidy build
	@python3 utils/fuzz/fuzz-bytes.py build-asan --seconds=60
	@python3 utils/fuzz/fuzz-files.py build --seed=day --count=$(MUTANTS) --jobs=$(JOBS)
	@build/bin/reprise-fuzz --kind=training --count=400 --jobs=$(JOBS)
	@python3 utils/run-tests.py build --all frameworks integration

docs: build
	@cmake --build build --target generated-docs

site:
	@utils/site/make-site.sh build

install: build
	@cmake --install build --prefix "$(PREFIX)"

clean:
	rm -rf build build-dev build-asan build-tsan
